// Linking with lld, which wants files: they stand in the worker's own folder for one call.

#include "shared.h"

#include "lld/Common/Driver.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <vector>

LLD_HAS_DRIVER(elf)

using namespace llvm;

namespace {

bool write_file(const netra_file& file) {
    std::error_code failure;
    raw_fd_ostream stream(file.name, failure, sys::fs::CD_CreateAlways);
    if (failure)
        return false;
    stream.write(file.data, file.size);
    stream.close();
    const bool is_written = !stream.has_error();
    // An error that is still set when the stream goes would end the process.
    stream.clear_error();
    return is_written;
}

bool write_files(const netra_file* files, size_t file_count) {
    for (size_t index = 0; index != file_count; ++index)
        if (!write_file(files[index]))
            return false;
    return true;
}

bool give_file(netra_bytes* to, const char* name) {
    ErrorOr<std::unique_ptr<MemoryBuffer>> file = MemoryBuffer::getFile(name,
        /*IsText=*/false, /*RequiresNullTerminator=*/false, /*IsVolatile=*/true);
    if (!file)
        return false;
    netra::give(to, (*file)->getBuffer());
    return true;
}

} // namespace

int netra_link(const char* const* arguments, size_t argument_count, const netra_file* files,
    size_t file_count, const char* output_name, netra_bytes* linked) {
    netra::begin_report();
    // lld names itself in messages by the first argument. One thread: the inputs are small, and
    // the result does not depend on the number.
    std::vector<const char*> command = {"ld.lld", "--threads=1"};
    command.insert(command.end(), arguments, arguments + argument_count);

    int status = NETRA_DECLINED;
    if (write_files(files, file_count)) {
        const lld::Result result =
            lld::lldMain(command, nulls(), errs(), {{lld::Gnu, &lld::elf::link}});
        // Its report is complete, and the caller takes the end of the process for the answer.
        if (!result.canRunAgain)
            std::_Exit(result.retCode ? result.retCode : EXIT_FAILURE);
        status = result.retCode ? NETRA_REFUSED : NETRA_DONE;
        if (status == NETRA_DONE && !give_file(linked, output_name))
            status = NETRA_DECLINED;
    }
    for (size_t index = 0; index != file_count; ++index)
        sys::fs::remove(files[index].name);
    sys::fs::remove(output_name);
    return status;
}
