import * as LogFile from "@waybill/store/operations/LogFile"
import { createReadStream } from "node:fs"
import * as fs from "node:fs/promises"

/** The lines of a file that are whole; what stands after the last line break is not given out. */
export async function* linesOf(file: string): AsyncGenerator<string> {
  let rest = ""
  for await (const chunk of createReadStream(file, { encoding: "utf8" })) {
    const lines = (rest + String(chunk)).split("\n")
    rest = lines.pop() ?? ""
    yield* lines
  }
}

export interface Target {
  readonly chain: LogFile.Chain
  /** The last event that the file has; nothing in one that is new. */
  readonly last: LogFile.Entry | undefined
  /** Makes the file ready to go on. Before, nothing of it is touched. */
  readonly begin: () => Promise<void>
  readonly append: (text: string) => Promise<void>
  /** On the disk, whatever happens to the machine now. */
  readonly close: () => Promise<void>
}

/** It holds every address that was ever written to. */
const OWNER_ONLY = 0o600

/**
 * A file that goes on: one that is new, or one that an earlier export has left, whole or cut off. Its lines are checked on
 * the way; an end is taken off, because more may have happened, and so is a line that was not finished.
 */
export const goOn = async (file: string): Promise<Target> => {
  const handle = await fs.open(file, "a+", OWNER_ONLY)
  try {
    await refuseForeign(handle)
    let chain = new LogFile.Chain()
    let last: LogFile.Entry | undefined
    let kept = 0
    for await (const line of linesOf(file)) {
      const isEnd = line.startsWith('{"end"')
      last = chain.take(line) ?? last
      if (!isEnd) kept += Buffer.byteLength(line) + 1
    }
    if (chain.isEnded) chain = await again(file)
    return {
      chain,
      last,
      begin: async () => {
        await handle.truncate(kept)
        if (kept > 0) return
        chain.take(LogFile.HEADER)
        await handle.appendFile(`${LogFile.HEADER}\n`)
      },
      append: (text) => handle.appendFile(text),
      close: async () => {
        await handle.sync()
        await handle.close()
      },
    }
  } catch (cause) {
    await handle.close()
    throw cause
  }
}

/** Somebody's own file is not ours to replace, whatever it is. */
const refuseForeign = async (handle: fs.FileHandle): Promise<void> => {
  const expected = Buffer.from(LogFile.HEADER)
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(expected.length), 0, expected.length, 0)
  if (bytesRead > 0 && !buffer.equals(expected))
    throw new LogFile.LogFileRefused({ message: "there is a file of this name, and it is not a log that was exported" })
}

/** The chain as it was before its end. */
const again = async (file: string): Promise<LogFile.Chain> => {
  const chain = new LogFile.Chain()
  for await (const line of linesOf(file)) if (!line.startsWith('{"end"')) chain.take(line)
  return chain
}
