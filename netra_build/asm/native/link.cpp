// Linking with lld, which reads files of the working folder and writes to standard output.

#include "netra_asm.h"

#include "lld/Common/Driver.h"

#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <vector>

LLD_HAS_DRIVER(elf)

int netra_link(const char* const* arguments, size_t argument_count) {
    // lld names itself in messages by the first argument. One thread: the inputs are small, and
    // the result does not depend on the number.
    std::vector<const char*> command = {"ld.lld", "--threads=1", "-o", "-"};
    command.insert(command.end(), arguments, arguments + argument_count);
    const lld::Result result =
        lld::lldMain(command, llvm::nulls(), llvm::errs(), {{lld::Gnu, &lld::elf::link}});
    // Its report is complete, and the caller takes the end of the process for the answer.
    if (!result.canRunAgain)
        std::_Exit(result.retCode ? result.retCode : EXIT_FAILURE);
    llvm::outs().flush();
    return result.retCode ? NETRA_REFUSED : NETRA_DONE;
}
