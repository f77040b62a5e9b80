import * as LogFile from "@waybill/store/exports/LogFile"
import { createReadStream } from "node:fs"
import * as fs from "node:fs/promises"

/** Yields the complete lines of a file, without what follows the last line break. */
export async function* linesOf(file: string): AsyncGenerator<string> {
  let rest = ""
  for await (const chunk of createReadStream(file, { encoding: "utf8" })) {
    const lines = (rest + String(chunk)).split("\n")
    rest = lines.pop() ?? ""
    yield* lines
  }
}

/** Returns why a file cannot be read, or `undefined` if it can. */
export const problemOf = async (file: string): Promise<string | undefined> => {
  try {
    await fs.access(file, fs.constants.R_OK)
    return (await fs.stat(file)).isDirectory() ? "this is a folder; give a file that `events export` wrote" : undefined
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    return code === "ENOENT" ? "there is no such file" : code === "EACCES" ? "the file cannot be read" : message
  }
}

export interface Target {
  readonly chain: LogFile.Chain
  /** Last event in the file, or none in a new file. */
  readonly last: LogFile.Entry | undefined
  /** Prepares the file for appending. Until then it is not changed. */
  readonly begin: () => Promise<void>
  readonly append: (text: string) => Promise<void>
  /** Flushes the file to the disk and closes it. */
  readonly close: () => Promise<void>
}

/** File mode. The file contains every address that mail was sent to. */
const OWNER_ONLY = 0o600

/**
 * Opens a new file, or one of an earlier export to continue. Its lines are verified; its end line is removed, since more
 * events may have happened, and so is an incomplete line.
 */
export const open = async (file: string): Promise<Target> => {
  const handle = await fs.open(file, "a+", OWNER_ONLY)
  try {
    await refuseForeign(handle)
    let chain = new LogFile.Chain()
    let last: LogFile.Entry | undefined
    let completeBytes = 0
    for await (const line of linesOf(file)) {
      const isEnd = line.startsWith('{"end"')
      last = chain.take(line) ?? last
      if (!isEnd) completeBytes += Buffer.byteLength(line) + 1
    }
    if (chain.isEnded) chain = await withoutEnd(file)
    return {
      chain,
      last,
      begin: async () => {
        await handle.truncate(completeBytes)
        if (completeBytes > 0) return
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

/** Refuses a file that is not an exported log, so that it is not overwritten. */
const refuseForeign = async (handle: fs.FileHandle): Promise<void> => {
  const expected = Buffer.from(LogFile.HEADER)
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(expected.length), 0, expected.length, 0)
  if (bytesRead > 0 && !buffer.equals(expected))
    throw new LogFile.LogFileRefused({ message: "the file exists and is not an exported log" })
}

/** Returns the chain without the end line. */
const withoutEnd = async (file: string): Promise<LogFile.Chain> => {
  const chain = new LogFile.Chain()
  for await (const line of linesOf(file)) if (!line.startsWith('{"end"')) chain.take(line)
  return chain
}
