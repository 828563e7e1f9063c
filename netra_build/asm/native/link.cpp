// Linking with lld, which wants files: they are files in memory, so that no disk is touched.

#include "shared.h"

#include "lld/Common/Driver.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

LLD_HAS_DRIVER(elf)

using namespace llvm;

namespace {

// How many inputs keep their file from one call to the next.
const size_t most_kept = 16;

// Bytes that look like a file to whoever opens its path.
class MemoryFile {
  public:
    MemoryFile() : handle(memfd_create("netra", MFD_CLOEXEC)) {}

    ~MemoryFile() {
        if (handle >= 0)
            close(handle);
    }

    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;

    int descriptor() const {
        return handle;
    }

    bool is_cleared() const {
        return handle >= 0 && ftruncate(handle, 0) == 0 && lseek(handle, 0, SEEK_SET) == 0;
    }

    bool is_filled(const char* data, size_t size) const {
        if (!is_cleared())
            return false;
        while (size) {
            const ssize_t count = write(handle, data, size);
            if (count <= 0)
                return false;
            data += count;
            size -= static_cast<size_t>(count);
        }
        return true;
    }

    bool is_given(netra_bytes* to) const {
        struct stat status;
        if (fstat(handle, &status) != 0)
            return false;
        ErrorOr<std::unique_ptr<MemoryBuffer>> whole = MemoryBuffer::getOpenFile(handle, "linked",
            static_cast<uint64_t>(status.st_size), /*RequiresNullTerminator=*/false,
            /*IsVolatile=*/true);
        if (!whole)
            return false;
        netra::give(to, (*whole)->getBuffer());
        return true;
    }

  private:
    const int handle;
};

// An input under the name that lld is to call it by: a link in the working folder.
class Input {
  public:
    explicit Input(const char* file_name) : name(file_name) {
        const std::string path = "/proc/self/fd/" + std::to_string(memory.descriptor());
        has_name = symlink(path.c_str(), file_name) == 0;
    }

    ~Input() {
        if (has_name)
            unlink(name.c_str());
    }

    Input(const Input&) = delete;
    Input& operator=(const Input&) = delete;

    bool is_filled(const netra_file& file) const {
        return has_name && name == file.name && memory.is_filled(file.data, file.size) &&
               access(file.name, R_OK) == 0;
    }

    void clear() const {
        memory.is_cleared();
    }

  private:
    const std::string name;
    const MemoryFile memory;
    bool has_name = false;
};

// While it lives, standard output is a file in memory.
class Redirected {
  public:
    explicit Redirected(const MemoryFile& file) {
        // What a source printed waits in the stream, and would come out in front of the code.
        outs().flush();
        before = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
        is_done = before >= 0 && dup2(file.descriptor(), STDOUT_FILENO) >= 0;
    }

    ~Redirected() {
        outs().flush();
        if (is_done)
            dup2(before, STDOUT_FILENO);
        if (before >= 0)
            close(before);
    }

    Redirected(const Redirected&) = delete;
    Redirected& operator=(const Redirected&) = delete;

    bool works() const {
        return is_done;
    }

  private:
    int before = -1;
    bool is_done = false;
};

std::vector<std::unique_ptr<Input>>& inputs() {
    static std::vector<std::unique_ptr<Input>> kept;
    return kept;
}

bool fill_inputs(const netra_file* files, size_t file_count) {
    std::vector<std::unique_ptr<Input>>& kept = inputs();
    for (size_t index = 0; index != file_count; ++index) {
        if (index == kept.size())
            kept.push_back(std::make_unique<Input>(files[index].name));
        if (!kept[index]->is_filled(files[index]))
            return false;
    }
    return true;
}

void clear_inputs() {
    std::vector<std::unique_ptr<Input>>& kept = inputs();
    if (kept.size() > most_kept)
        kept.resize(most_kept);
    for (const std::unique_ptr<Input>& input : kept)
        input->clear();
}

int link(std::vector<const char*>& command, const MemoryFile& output, netra_bytes* linked) {
    Redirected redirected(output);
    if (!redirected.works())
        return NETRA_DECLINED;
    const lld::Result result =
        lld::lldMain(command, nulls(), errs(), {{lld::Gnu, &lld::elf::link}});
    // Its report is complete, and the caller takes the end of the process for the answer.
    if (!result.canRunAgain)
        std::_Exit(result.retCode ? result.retCode : EXIT_FAILURE);
    if (result.retCode)
        return NETRA_REFUSED;
    return output.is_given(linked) ? NETRA_DONE : NETRA_DECLINED;
}

} // namespace

void netra::drop_inputs() {
    inputs().clear();
}

int netra_link(const char* const* arguments, size_t argument_count, const netra_file* files,
    size_t file_count, netra_bytes* linked) {
    netra::begin_report();
    // lld names itself in messages by the first argument. One thread: the inputs are small, and
    // the result does not depend on the number.
    std::vector<const char*> command = {"ld.lld", "--threads=1", "-o", "-"};
    command.insert(command.end(), arguments, arguments + argument_count);

    static const MemoryFile output;
    int status = NETRA_DECLINED;
    if (output.is_cleared() && fill_inputs(files, file_count))
        status = link(command, output, linked);
    clear_inputs();
    output.is_cleared();
    return status;
}
