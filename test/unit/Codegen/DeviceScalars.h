//===- DeviceScalars.h - Scalars of devices on the CPU ----------*- C++ -*-===//
//
// The files of codegen/gpu/device that are of scalars, in their order, for a
// namespace of its own; after emulator/Intrinsics.h.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/device/patterns.cuh"

#include "codegen/gpu/device/narrow.cuh"

#include "codegen/gpu/device/compute.cuh"

#include "codegen/gpu/device/f16.cuh"

#include "codegen/gpu/device/f8.cuh"

#include "codegen/gpu/device/extremes.cuh"

#include "codegen/gpu/device/divisions.cuh"

#include "codegen/gpu/device/activations.cuh"

#include "codegen/gpu/device/combine.cuh"
