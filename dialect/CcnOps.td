//===- CcnOps.td - All operations of the ccn dialect ----------------------===//
#ifndef CCN_DIALECT_CCNOPS
#define CCN_DIALECT_CCNOPS

include "dialect/StructureOps.td"
include "dialect/ElementwiseOps.td"
include "dialect/TensorOps.td"
include "dialect/CollectiveOps.td"
include "dialect/RegionOps.td"

#endif // CCN_DIALECT_CCNOPS
