def NegOp : Ccn_Unary<"neg", "">;
def AddOp : Ccn_Binary<"add", "">;
  - `interface_c1`: documented here only.
