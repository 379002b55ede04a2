//===- PlanEnums.td - Enumerations of the plan dialect --------------------===//
//
// In a file of their own, as the generator writes all enumerations that it sees.
//
//===----------------------------------------------------------------------===//
#ifndef CCN_DIALECT_PLANENUMS
#define CCN_DIALECT_PLANENUMS

include "mlir/IR/EnumAttr.td"

class Plan_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::ccn::plan";
  let genSpecializedAttr = 0;
}

def Plan_Memory : Plan_Enum<"Memory", "where a buffer lies", [
    I32EnumAttrCase<"argument", 0>, I32EnumAttrCase<"private_", 1, "private">,
    I32EnumAttrCase<"symmetric", 2>, I32EnumAttrCase<"scratch", 3>]>;

def Plan_ArgumentKind : Plan_Enum<"ArgumentKind", "how an argument is used", [
    I32EnumAttrCase<"input", 0>, I32EnumAttrCase<"inout", 1>,
    I32EnumAttrCase<"result", 2>]>;

def Plan_Exchange : Plan_Enum<"Exchange", "a collective with a protocol of its own", [
    I32EnumAttrCase<"ll", 0>, I32EnumAttrCase<"lamport", 1>,
    I32EnumAttrCase<"schedule", 2>]>;

#endif // CCN_DIALECT_PLANENUMS
