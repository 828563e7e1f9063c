#include "shared.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

// The header that declares it includes one that Debian does not ship.
namespace lld {
std::string getLLDVersion();
}

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

void give(netra_bytes* to, llvm::StringRef data) {
    // One byte more: an empty result is still an allocation, not a null pointer.
    to->data = static_cast<char*>(std::malloc(data.size() + 1));
    if (!to->data)
        std::abort();
    std::memcpy(to->data, data.data(), data.size());
    to->size = data.size();
}

void begin_report() {
    if (ftruncate(STDERR_FILENO, 0) == 0)
        lseek(STDERR_FILENO, 0, SEEK_SET);
}

} // namespace netra

const char* netra_version(void) {
    static const std::string line =
        std::string("LLVM " LLVM_VERSION_STRING ", ") + lld::getLLDVersion();
    return line.c_str();
}

void netra_report(size_t most, netra_bytes* report) {
    struct stat status;
    std::string text;
    if (fstat(STDERR_FILENO, &status) == 0 && S_ISREG(status.st_mode))
        text.resize(std::min(static_cast<size_t>(status.st_size), most));
    size_t done = 0;
    while (done < text.size()) {
        const ssize_t count =
            pread(STDERR_FILENO, &text[done], text.size() - done, static_cast<off_t>(done));
        if (count <= 0)
            break;
        done += static_cast<size_t>(count);
    }
    netra::give(report, llvm::StringRef(text.data(), done));
}

void netra_leave_folder(void) {
    netra::drop_inputs();
    llvm::SmallString<256> folder;
    if (!llvm::sys::fs::current_path(folder) && chdir("/") == 0)
        rmdir(folder.c_str());
}

void netra_release(netra_bytes* bytes) {
    std::free(bytes->data);
    bytes->data = nullptr;
    bytes->size = 0;
}
