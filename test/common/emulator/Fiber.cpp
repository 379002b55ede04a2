//===- Fiber.cpp - Calls that pause and go on -----------------------------===//

#include "test/common/emulator/Fiber.h"

#include <cstdint>

using namespace ccn::emulator;

#if CCN_SWITCHES_STACKS

// Pushes the registers that a call preserves, keeps the top of this stack, and
// goes on where the other stack's call of it was.
asm(R"(
.text
.p2align 4
.type ccnSwitchStacks, @function
ccnSwitchStacks:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size ccnSwitchStacks, . - ccnSwitchStacks
)");
extern "C" void ccnSwitchStacks(void **from, void *to)
    __attribute__((visibility("hidden")));

void Fiber::start(char *stack, size_t bytes, void (*main)()) {
  // At its beginning a function has 8 bytes, where it would return to, above a
  // multiple of 16.
  auto end = reinterpret_cast<uintptr_t>(stack + bytes) / 16 * 16;
  auto **top = reinterpret_cast<void **>(end - 8);
  *top = nullptr;
  *--top = reinterpret_cast<void *>(main);
  for (int registers = 0; registers < 6; ++registers)
    *--top = nullptr;
  own = top;
}

void Fiber::resume() { ccnSwitchStacks(&other, own); }
void Fiber::pause() { ccnSwitchStacks(&own, other); }

#else

void Fiber::start(char *stack, size_t bytes, void (*main)()) {
  getcontext(&own);
  own.uc_stack.ss_sp = stack;
  own.uc_stack.ss_size = bytes;
  own.uc_link = nullptr;
  makecontext(&own, main, 0);
}

void Fiber::resume() { swapcontext(&other, &own); }
void Fiber::pause() { swapcontext(&own, &other); }

#endif
