// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A back end with two devices whose memory is the host's, so that a PyTorch for CPUs alone starts
// device threads with ready queues of their own. Tensors are made, viewed and copied here;
// everything else is computed by the CPU's kernels on copies (at::native::cpu_fallback). Built
// against the PyTorch that loads it, 1.13 to 2.13.
#include <ATen/ATen.h>
#include <ATen/EmptyTensor.h>
#include <ATen/native/CPUFallback.h>
#include <c10/core/Allocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>
#include <torch/version.h>

#if TORCH_VERSION_MAJOR > 1
#include <ATen/detail/PrivateUse1HooksInterface.h>
#endif

#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

using at::IntArrayRef;
using at::Tensor;
using c10::Device;
using c10::DeviceIndex;
using c10::optional;
using c10::Stream;

constexpr c10::DeviceType FAKE = c10::DeviceType::PrivateUse1;
thread_local DeviceIndex current = 0;

// Work is done before a call returns, so there is one stream a device and nothing to wait for.
struct Guard final : c10::impl::DeviceGuardImplInterface {
  static constexpr c10::DeviceType static_type = FAKE;
  Guard() = default;
  explicit Guard(c10::DeviceType) {
  }
  c10::DeviceType type() const override {
    return FAKE;
  }
  Device getDevice() const override {
    return Device(FAKE, current);
  }
  void setDevice(Device device) const override {
    current = device.index();
  }
  void uncheckedSetDevice(Device device) const noexcept override {
    current = device.index();
  }
  Device exchangeDevice(Device device) const override {
    Device before = getDevice();
    current = device.index();
    return before;
  }
  Stream getStream(Device device) const noexcept override {
    return Stream(Stream::DEFAULT, device);
  }
  Stream getDefaultStream(Device device) const override {
    return Stream(Stream::DEFAULT, device);
  }
  Stream exchangeStream(Stream stream) const noexcept override {
    return Stream(Stream::DEFAULT, stream.device());
  }
  DeviceIndex deviceCount() const noexcept override {
    return 2;
  }
  void record(void **, const Stream &, const DeviceIndex, const c10::EventFlag) const override {
  }
  void block(void *, const Stream &) const override {
  }
  bool queryEvent(void *) const override {
    return true;
  }
  void destroyEvent(void *, const DeviceIndex) const noexcept override {
  }
};
C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard);

struct HostAllocator final : c10::Allocator {
#if TORCH_VERSION_MAJOR > 1
  c10::DataPtr allocate(size_t n) override {
    return allocate_here(n);
  }
  void copy_data(void *to, const void *from, size_t n) const override {
    memcpy(to, from, n);
  }
#else
  c10::DataPtr allocate(size_t n) const override {
    return allocate_here(n);
  }
#endif
  c10::DeleterFnPtr raw_deleter() const override {
    return &std::free;
  }

private:
  static c10::DataPtr allocate_here(size_t n) {
    void *bytes = n ? std::malloc(n) : nullptr;
    return {bytes, bytes, &std::free, Device(FAKE, current)};
  }
};
HostAllocator allocator;

// The device named, or the current one, for as long as this lives.
struct OnDevice {
  DeviceIndex before = current;
  explicit OnDevice(optional<Device> device) {
    if (device && device->has_index()) current = device->index();
  }
  ~OnDevice() {
    current = before;
  }
};

Tensor
empty(IntArrayRef size, optional<at::ScalarType> dtype, optional<at::Layout>,
      optional<Device> device, optional<bool>, optional<at::MemoryFormat> format) {
  OnDevice on(device);
  return at::detail::empty_generic(size, &allocator,
                                   c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
                                   c10::dtype_or_default(dtype), format);
}

Tensor
empty_strided(IntArrayRef size, IntArrayRef stride, optional<at::ScalarType> dtype,
              optional<at::Layout>, optional<Device> device, optional<bool>) {
  OnDevice on(device);
  return at::detail::empty_strided_generic(size, stride, &allocator,
                                           c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
                                           c10::dtype_or_default(dtype));
}

// The same memory as the CPU sees it.
Tensor
on_host(const Tensor &tensor) {
  if (tensor.device().type() != FAKE) return tensor;
  return at::from_blob(tensor.data_ptr(), tensor.sizes(), tensor.strides(),
                       at::TensorOptions().dtype(tensor.dtype()));
}

Tensor
copy_from(const Tensor &self, const Tensor &to, bool) {
  on_host(to).copy_(on_host(self));
  return to;
}

Tensor
copy_from_and_resize(const Tensor &self, const Tensor &to) {
  if (!self.sizes().equals(to.sizes())) to.resize_(self.sizes());
  return copy_from(self, to, false);
}

Tensor &
copy_in(Tensor &self, const Tensor &from, bool) {
  on_host(self).copy_(on_host(from));
  return self;
}

Tensor
as_strided(const Tensor &self, IntArrayRef size, IntArrayRef stride, optional<int64_t> offset) {
  auto result = at::detail::make_tensor<c10::TensorImpl>(
      c10::TensorImpl::VIEW, c10::Storage(self.storage()), self.key_set(), self.dtype());
  auto *impl = result.unsafeGetTensorImpl();
  impl->set_storage_offset(offset.value_or(self.storage_offset()));
  impl->set_sizes_and_strides(size, stride);
  return result;
}

at::Scalar
local_scalar_dense(const Tensor &self) {
  return on_host(self).item();
}

void
compute_on_host(const c10::OperatorHandle &op, torch::jit::Stack *stack) {
  at::native::cpu_fallback(op, stack);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  library.impl("empty.memory_format", &empty);
  library.impl("empty_strided", &empty_strided);
  library.impl("copy_", &copy_in);
  library.impl("_copy_from", &copy_from);
  library.impl("_copy_from_and_resize", &copy_from_and_resize);
  library.impl("as_strided", &as_strided);
  library.impl("_local_scalar_dense", &local_scalar_dense);
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&compute_on_host>());
}

#if TORCH_VERSION_MAJOR > 1
struct Hooks final : at::PrivateUse1HooksInterface {
  bool isBuilt() const override {
    return true;
  }
  bool isAvailable() const override {
    return true;
  }
  bool hasPrimaryContext(DeviceIndex) const override {
    return true;
  }
  DeviceIndex deviceCount() const override {
    return 2;
  }
  DeviceIndex getCurrentDevice() const override {
    return current;
  }
  void setCurrentDevice(DeviceIndex device) const override {
    current = device;
  }
};

[[maybe_unused]] const bool registered = [] {
  static Hooks hooks;
  at::RegisterPrivateUse1HooksInterface(&hooks);
  return true;
}();
#endif

} // namespace
