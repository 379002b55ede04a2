//===- GpuTensorMaps.cpp - What kernels get to copy boxes of tensors ------===//
//
// The driver encodes a tensor map for an address. Arguments may be elsewhere in
// each run, so each launch looks at the addresses that it is about to get, and
// encodes again what has changed: that is work of the host alone, and takes
// less than a microsecond. The maps are a parameter of the kernel, so a
// captured graph keeps them.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/GpuState.h"

#include <algorithm>

namespace ccn::runtime {

static_assert(sizeof(CcnTensorMap) == sizeof(CUtensorMap) &&
              alignof(CcnTensorMap) >= alignof(CUtensorMap));

namespace {

CUtensorMapDataType typeOf(ElementType type) {
  switch (type) {
  case ElementType::F64:
    return CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
  case ElementType::F32:
    return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  case ElementType::F16:
    return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  case ElementType::BF16:
    return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  case ElementType::I32:
    return CU_TENSOR_MAP_DATA_TYPE_INT32;
  case ElementType::U32:
    return CU_TENSOR_MAP_DATA_TYPE_UINT32;
  case ElementType::I64:
    return CU_TENSOR_MAP_DATA_TYPE_INT64;
  case ElementType::U64:
    return CU_TENSOR_MAP_DATA_TYPE_UINT64;
  case ElementType::I16:
  case ElementType::U16:
    return CU_TENSOR_MAP_DATA_TYPE_UINT16;
  case ElementType::F8E4M3:
  case ElementType::F8E5M2:
  case ElementType::I8:
  case ElementType::U8:
  case ElementType::Bool:
    return CU_TENSOR_MAP_DATA_TYPE_UINT8;
  }
  return CU_TENSOR_MAP_DATA_TYPE_UINT8;
}

CUtensorMapSwizzle swizzleOf(int bytes) {
  return bytes == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
         : bytes == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
         : bytes == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                       : CU_TENSOR_MAP_SWIZZLE_NONE;
}

/// Has elements.
Status encode(const GpuDevice &device, const GpuTensorMap &tensor,
              void *address, CcnTensorMap &to) {
  constexpr size_t most = 5;
  size_t dims = tensor.sizes.size();
  cuuint64_t sizes[most] = {}, strides[most] = {};
  cuuint32_t box[most] = {}, steps[most] = {1, 1, 1, 1, 1};
  // The driver begins with the innermost dimension, whose stride it knows.
  for (size_t dim = 0; dim < dims; ++dim) {
    size_t from = dims - 1 - dim;
    sizes[dim] = static_cast<cuuint64_t>(tensor.sizes[from]);
    box[dim] = static_cast<cuuint32_t>(tensor.box[from]);
    if (dim > 0)
      strides[dim - 1] = static_cast<cuuint64_t>(tensor.strides[from] *
                                                 sizeInBytes(tensor.type));
  }
  return device.check(
      device.driver.tensorMapEncodeTiled(
          reinterpret_cast<CUtensorMap *>(&to), typeOf(tensor.type),
          static_cast<cuuint32_t>(dims), address, sizes, strides, box, steps,
          CU_TENSOR_MAP_INTERLEAVE_NONE, swizzleOf(tensor.swizzle),
          CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
          CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
      "cuTensorMapEncodeTiled");
}

bool isInTensorMaps(const Plan &plan, const GpuProgram &program,
                    size_t argument) {
  for (size_t rank = 0; rank < plan.ranks.size(); ++rank)
    for (const GpuLaunch &launch : program.launches[rank])
      for (const GpuTensorMap &map : launch.tensorMaps) {
        if (map.memory != TensorMemory::Buffer)
          continue;
        const Buffer &buffer =
            plan.ranks[rank].buffers[static_cast<size_t>(map.buffer)];
        if (buffer.memory == Memory::Argument &&
            buffer.offset == static_cast<int64_t>(argument))
          return true;
      }
  return false;
}

} // namespace

Status GpuExecutor::State::prepareTensorMaps(const Plan &whole,
                                             const GpuProgram &program) {
  for (SharedArgument &argument : shared)
    argument.isInTensorMaps = isInTensorMaps(whole, program, argument.number);
  for (size_t i = 0; i < launches.size(); ++i) {
    const GpuLaunch &launch = program.launches[static_cast<size_t>(rank)][i];
    if (launch.kernel < 0 || launch.tensorMaps.empty())
      continue;
    if (!device->driver.tensorMapEncodeTiled)
      return error("launch '", launchNames[i],
                   "' needs tensor maps, and the driver of CUDA is too old: it "
                   "lacks cuTensorMapEncodeTiled");
    launches[i].setTensors(launch.tensorMaps);
  }
  preparePreferred(program);
  return Status();
}

const GpuKernels::Kernel *
GpuExecutor::State::preferredKernel(const GpuLaunch &launch) const {
  if (launch.preferred.empty())
    return nullptr;
  const GpuKernels::Kernel &kernel =
      kernels.kernel(launch.preferred.front().kernel);
  return kernel.function ? &kernel : nullptr;
}

/// After the launches to which others are preferred are ready.
void GpuExecutor::State::preparePreferred(const GpuProgram &program) {
  for (size_t i = 0; i < launches.size(); ++i) {
    const GpuLaunch &launch = program.launches[static_cast<size_t>(rank)][i];
    const GpuKernels::Kernel *made = preferredKernel(launch);
    if (!made)
      continue;
    const GpuLaunch &other = launch.preferred.front();
    const GpuKernel &kernel =
        program.kernels[static_cast<size_t>(other.kernel)];
    // Whether the library does a product may differ between ranks.
    if (kernel.isOfAllRanks && launches[i].product)
      continue;
    auto own = std::make_unique<PreparedGpuLaunch>();
    own->function = made->function;
    // Blocks take their work in turns, on a multiprocessor each. Those that
    // wait are as many as of the launch's other kernel, which other ranks may
    // run.
    own->blocks = kernel.waits
                      ? launches[i].blocks
                      : static_cast<unsigned>(std::clamp<int64_t>(
                            other.blocks, 1,
                            kernels.multiprocessors() * made->blocksEach));
    own->threads = static_cast<unsigned>(kernel.threads);
    own->sharedBytes = static_cast<unsigned>(kernel.sharedBytes);
    own->context = launches[i].context;
    own->context.clusterBits = 0;
    own->numbers = other.numbers;
    own->needsNoMaps = kernel.isOfAllRanks;
    own->setTensors(other.tensorMaps);
    launches[i].preferred = std::move(own);
  }
}

bool GpuExecutor::State::areTensorsAligned(
    const PreparedGpuLaunch &launch) const {
  return std::all_of(launch.tensors.begin(), launch.tensors.end(),
                     [&](const GpuTensorMap &tensor) {
                       return isTensorAligned(addressOf(launch, tensor));
                     });
}

const SharedArgument *GpuExecutor::State::sharedArgument(size_t number) const {
  auto found = std::find_if(shared.begin(), shared.end(),
                            [&](const SharedArgument &argument) {
                              return argument.number == number;
                            });
  return found == shared.end() ? nullptr : &*found;
}

void *GpuExecutor::State::addressOf(const PreparedGpuLaunch &launch,
                                    const GpuTensorMap &tensor) const {
  auto owner = static_cast<size_t>(tensor.rank < 0 ? rank : tensor.rank);
  if (tensor.memory == TensorMemory::Workspace)
    return launch.context.workspace + tensor.offset;
  if (tensor.memory == TensorMemory::Symmetric)
    return launch.context.symmetric[owner] + tensor.offset;
  const Buffer &buffer = plan.buffers[static_cast<size_t>(tensor.buffer)];
  if (buffer.memory == Memory::Private)
    return launch.context.privateMemory + buffer.offset + tensor.offset;
  if (buffer.memory == Memory::Symmetric)
    return launch.context.symmetric[owner] + buffer.offset + tensor.offset;
  auto number = static_cast<size_t>(buffer.offset);
  const SharedArgument *argument = sharedArgument(number);
  void *base =
      argument ? reinterpret_cast<void *>(argument->places().addresses[owner])
               : arguments[number];
  return static_cast<std::byte *>(base) + tensor.offset;
}

Status GpuExecutor::State::encodeTensorMaps(PreparedGpuLaunch &launch) {
  for (size_t i = 0; i < launch.tensors.size(); ++i) {
    const GpuTensorMap &tensor = launch.tensors[i];
    if (std::find(tensor.sizes.begin(), tensor.sizes.end(), 0) !=
        tensor.sizes.end())
      continue;
    void *address = addressOf(launch, tensor);
    if (address == launch.tensorAddresses[i])
      continue;
    // Until it is encoded.
    launch.tensorAddresses[i] = nullptr;
    launch.tensorMaps[i] = {};
    if (launch.needsNoMaps && !isTensorAligned(address))
      continue;
    Status status =
        isTensorAligned(address)
            ? encode(*device, tensor, address, launch.tensorMaps[i])
            : error("its address is not a multiple of ", tensorAlignment);
    if (!status)
      return error("tensor map ", i, ": ", status.message());
    launch.tensorAddresses[i] = address;
  }
  return Status();
}

Status GpuExecutor::State::checkTensorAddresses(
    std::span<void *const> addresses) const {
  for (size_t i = 0; i < launches.size(); ++i)
    for (const GpuTensorMap &tensor : launches[i].tensors) {
      if (tensor.memory != TensorMemory::Buffer)
        continue;
      const Buffer &buffer = plan.buffers[static_cast<size_t>(tensor.buffer)];
      if (buffer.memory != Memory::Argument)
        continue;
      auto number = static_cast<size_t>(buffer.offset);
      // What is copied is aligned.
      bool isCopied = !messages && sharedArgument(number);
      if (!isCopied && !isTensorAligned(addresses[number]))
        return error("argument '", argumentNames[number],
                     "' is at an address that is not a multiple of ",
                     tensorAlignment, ", as launch '", launchNames[i],
                     "' needs it");
    }
  return Status();
}

} // namespace ccn::runtime
