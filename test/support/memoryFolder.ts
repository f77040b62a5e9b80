import * as fs from "node:fs/promises"
import * as os from "node:os"
import * as path from "node:path"

/** Folder in memory, on Linux. Databases in it take a fifth less processor time than on a disk. */
const IN_MEMORY = "/dev/shm"
/** Space that must be free there, several times what the databases of all tests and the log take. */
const LEAST_FREE_BYTES = 4 * 1024 ** 3

const parent = async (): Promise<string> => {
  const { bavail, bsize } = await fs.statfs(IN_MEMORY).catch(() => ({ bavail: 0, bsize: 0 }))
  // What is written there takes memory from the tests.
  const free = Math.min(bavail * bsize, process.availableMemory() / 2)
  return free >= LEAST_FREE_BYTES ? IN_MEMORY : os.tmpdir()
}

/** Makes a folder for the data of a database: in memory if there is enough, else on the disk. Its caller removes it. */
export const memoryFolder = async (name: string): Promise<string> =>
  fs.mkdtemp(path.join(await parent(), `waybill-${name}-`))
