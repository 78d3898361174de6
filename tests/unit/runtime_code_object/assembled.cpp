// Assembled kernels (see assembled.h).
#include "assembled.h"
#include "codegen_amd/link.h"
#include "codegen_amd/object.h"
#include "runtime/code_object/decoder.h"
#include "runtime/compiler/targets.h"
#include "llvm/ADT/StringRef.h"
#include <cstring>
#include <gtest/gtest.h>

namespace tessera::testing {

absl::StatusOr<std::string> assembleObject(const std::string &target, const std::string &body,
                                           const AssembledOptions &o) {
  bool isGfx9 = llvm::StringRef(target).starts_with("gfx9");
  std::string text = ".amdgcn_target \"amdgcn-amd-amdhsa--" + target + "\"\n.text\n.globl k\n.p2align 8\n" +
                     ".type k,@function\nk:\n" + body + "\n.Lend:\n.size k, .Lend-k\n.rodata\n.p2align 6\n" +
                     ".amdhsa_kernel k\n.amdhsa_next_free_vgpr " + (isGfx9 ? "128" : "64") +
                     "\n.amdhsa_next_free_sgpr 64\n.amdhsa_user_sgpr_kernarg_segment_ptr 1\n.amdhsa_kernarg_size 8\n" +
                     ".amdhsa_group_segment_fixed_size " + std::to_string(o.ldsBytes) +
                     "\n.amdhsa_private_segment_fixed_size " + std::to_string(o.scratchBytes) +
                     "\n.amdhsa_float_denorm_mode_32 " + (o.flushDenormals ? "0" : "3") + "\n" +
                     (isGfx9 ? std::string(".amdhsa_accum_offset 64\n")
                             : ".amdhsa_wavefront_size32 " + std::string(o.hasWaves64 ? "0\n" : "1\n")) +
                     ".amdhsa_system_sgpr_workgroup_id_x 1\n.end_amdhsa_kernel\n";
  auto relocatable = amd::assembleText(text, *runtime::findArch(target));
  if (!relocatable.ok()) return relocatable.status();
  return amd::linkShared(*relocatable);
}

absl::StatusOr<code_object::Trace> runBody(const std::string &target, const std::string &body,
                                           std::vector<uint8_t> &buffer, const code_object::Grid &grid,
                                           const AssembledOptions &o, const code_object::ExecuteOptions &options) {
  auto hsaco = assembleObject(target, body, o);
  if (!hsaco.ok()) return hsaco.status();
  auto object = code_object::readCodeObject(*hsaco);
  if (!object.ok()) return object.status();
  auto program = code_object::decode(*object, object->kernels[0]);
  if (!program.ok()) return program.status();
  code_object::Memory memory;
  uint64_t address = memory.add("the buffer", buffer.data(), buffer.size());
  std::vector<uint8_t> kernarg(8);
  std::memcpy(kernarg.data(), &address, 8);
  return code_object::execute(*object, object->kernels[0], *program, grid, kernarg, memory, options);
}

absl::StatusOr<std::array<Lanes, 2>> runLanes(const std::string &target, const std::string &body,
                                              const std::array<Lanes, 4> &inputs, const AssembledOptions &o) {
  std::string text = "s_load_b64 s[0:1], s[0:1], 0x0\n";
  if (llvm::StringRef(target).starts_with("gfx9")) text = "s_load_dwordx2 s[0:1], s[0:1], 0x0\n";
  text += "v_lshlrev_b32 v0, 2, v0\n";
  for (unsigned k = 0; k < 4; ++k)
    text += "global_load_dword v" + std::to_string(k + 1) + ", v0, s[0:1] offset:" + std::to_string(256 * k) + "\n";
  text += body + "\nglobal_store_dword v0, v8, s[0:1] offset:1024\nglobal_store_dword v0, v9, s[0:1] offset:1280\n" +
          "s_endpgm\n";
  std::vector<uint8_t> buffer(6 * 256);
  std::memcpy(buffer.data(), inputs.data(), sizeof inputs);
  code_object::Grid grid;
  grid.workItems = {llvm::StringRef(target).starts_with("gfx9") ? 64u : 32u, 1, 1};
  auto trace = runBody(target, text, buffer, grid, o);
  if (!trace.ok()) return trace.status();
  std::array<Lanes, 2> out;
  std::memcpy(out.data(), buffer.data() + 1024, sizeof out);
  return out;
}

uint32_t runOne(const std::string &target, const std::string &body, std::array<uint32_t, 4> inputs,
                const AssembledOptions &o) {
  std::array<Lanes, 4> rows;
  for (unsigned k = 0; k < 4; ++k) rows[k].fill(inputs[k]);
  auto out = runLanes(target, body, rows, o);
  EXPECT_TRUE(out.ok()) << body << ": " << out.status();
  return out.ok() ? (*out)[0][0] : 0xbadbad;
}

} // namespace tessera::testing
