//===- CcnOps.td - All operations of the ccn dialect ----------------------===//
#ifndef CCN_DIALECT_CCNOPS
#define CCN_DIALECT_CCNOPS

include "dialect/ccn/StructureOps.td"
include "dialect/ccn/ElementwiseOps.td"
include "dialect/ccn/TensorOps.td"
include "dialect/ccn/CollectiveOps.td"
include "dialect/ccn/RegionOps.td"

#endif // CCN_DIALECT_CCNOPS
