// What the assembler and the disassembler have in common: the target's tables.

#ifndef NETRA_SHARED_H
#define NETRA_SHARED_H

#include "netra_asm.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/TargetParser/Triple.h"

#include <memory>
#include <string>

namespace netra {

// The tables of one processor. They are read only once made, and shared by all calls.
struct Processor {
    std::string name;
    llvm::Triple triple;
    const llvm::Target* target = nullptr;
    llvm::MCTargetOptions options;
    std::unique_ptr<llvm::MCRegisterInfo> registers;
    std::unique_ptr<llvm::MCAsmInfo> syntax;
    std::unique_ptr<llvm::MCInstrInfo> instructions;
    std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
};

// Returns the tables, made on first use; null when this LLVM does not know the target. The last
// processor is kept: a worker serves one.
const Processor* processor(llvm::StringRef triple, llvm::StringRef name);

} // namespace netra

#endif
