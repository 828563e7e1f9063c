#include "shared.h"

extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUAsmParser();
void LLVMInitializeAMDGPUDisassembler();
}

namespace netra {

static void register_target() {
    static const bool is_registered = [] {
        LLVMInitializeAMDGPUTargetInfo();
        LLVMInitializeAMDGPUTargetMC();
        LLVMInitializeAMDGPUAsmParser();
        LLVMInitializeAMDGPUDisassembler();
        return true;
    }();
    (void)is_registered;
}

static std::unique_ptr<Processor> make_processor(llvm::StringRef triple, llvm::StringRef name) {
    register_target();
    auto made = std::make_unique<Processor>();
    made->name = name.str();
    made->triple = llvm::Triple(triple);
    std::string reason;
    made->target = llvm::TargetRegistry::lookupTarget(made->triple, reason);
    if (!made->target)
        return nullptr;
    made->registers.reset(made->target->createMCRegInfo(made->triple));
    made->syntax.reset(
        made->target->createMCAsmInfo(*made->registers, made->triple, made->options));
    made->instructions.reset(made->target->createMCInstrInfo());
    made->subtarget.reset(made->target->createMCSubtargetInfo(made->triple, name, ""));
    if (!made->registers || !made->syntax || !made->instructions || !made->subtarget)
        return nullptr;
    return made->subtarget->isCPUStringValid(name) ? std::move(made) : nullptr;
}

const Processor* processor(llvm::StringRef triple, llvm::StringRef name) {
    static std::unique_ptr<Processor> last;
    if (!last || last->name != name || last->triple.str() != triple)
        last = make_processor(triple, name);
    return last.get();
}

} // namespace netra
