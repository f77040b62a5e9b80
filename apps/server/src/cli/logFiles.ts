import * as LogFile from "@waybill/store/LogFile"
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
  readonly append: (text: string) => Promise<void>
  /** On the disk, whatever happens to the machine now. */
  readonly close: () => Promise<void>
}

/**
 * A file that goes on: one that is new, or one that an earlier export has left, whole or cut off. Its lines are checked on
 * the way; an end is taken off, because more may have happened, and so is a line that was not finished.
 */
export const goOn = async (file: string): Promise<Target> => {
  const handle = await fs.open(file, "a+")
  try {
    let chain = new LogFile.Chain()
    let kept = 0
    for await (const line of linesOf(file)) {
      const isEnd = line.startsWith('{"end"')
      chain.take(line)
      if (!isEnd) kept += Buffer.byteLength(line) + 1
    }
    await handle.truncate(kept)
    if (chain.isEnded) chain = await again(file)
    if (kept === 0) {
      chain.take(LogFile.HEADER)
      await handle.appendFile(`${LogFile.HEADER}\n`)
    }
    return {
      chain,
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

/** The chain as it was before its end. */
const again = async (file: string): Promise<LogFile.Chain> => {
  const chain = new LogFile.Chain()
  for await (const line of linesOf(file)) chain.take(line)
  return chain
}
