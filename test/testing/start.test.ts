import { spawn } from "node:child_process"
import { once } from "node:events"
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as Service from "../../packages/testing/src/service/Service.ts"

const TIMEOUT = 180_000
/**
 * Processor time of an instance from its start to its end, in starts of a Node that does nothing: 42 to 54 on a quiet machine,
 * and less beside other work, which makes the short starts longer than the long one.
 */
const BUDGET = 64
/** Other work on the machine makes processor time longer too. */
const ROUNDS = 4
const BARE_STARTS = 5
/** What a start copies, and what Postgres adds to it. */
const COPY = { files: 800, bytes: 24 * 1024 * 1024 }
/** Files with code that a start loads: the launcher and the parts of the bundle, which threads share, and no package. */
const MAX_MODULES = 75

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "waybill-start-"))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Processor time of ended children of this process and of theirs, in ticks. */
const endedChildren = async (): Promise<number> => {
  const line = await readFile("/proc/self/stat", "utf8")
  const fields = line.slice(line.lastIndexOf(")") + 2).split(" ")
  return Number(fields[13]) + Number(fields[14])
}
const costOf = async (work: () => Promise<unknown>): Promise<number> => {
  const before = await endedChildren()
  await work()
  return (await endedChildren()) - before
}
const instance = async () => (await Service.start()).stop()
const bareStarts = async () => {
  for (let left = BARE_STARTS; left > 0; left--) await once(spawn(process.execPath, ["--eval", "0"]), "exit")
}

describe("the start of an instance", { timeout: TIMEOUT }, () => {
  it("loads the bundle and no package, and copies a small template", async () => {
    const hook = join(folder, "hook.mjs")
    const list = join(folder, "modules.txt")
    await writeFile(
      hook,
      `import { appendFileSync } from "node:fs"
       import { registerHooks } from "node:module"
       const load = (url, context, next) => (url.startsWith("file:") && appendFileSync(${JSON.stringify(list)}, url + "\\n"), next(url, context))
       registerHooks({ load })`,
    )
    const data = join(folder, "data")
    await mkdir(data)
    // Root's Postgres runs as another user.
    for (const path of [folder, data]) await chmod(path, 0o711)
    const service = await Service.start({ env: { NODE_OPTIONS: `--import ${hook}`, TMPDIR: data } })
    const entries = await readdir(data, { recursive: true, withFileTypes: true })
    const files = entries.filter((entry) => entry.isFile())
    const sizes = await Promise.all(
      files.map(({ name, parentPath }) =>
        stat(join(parentPath, name)).then(
          ({ size }) => size,
          () => 0,
        ),
      ),
    )
    await service.stop()
    assert.isAtMost(files.length, COPY.files)
    assert.isAtMost(
      sizes.reduce((sum, size) => sum + size, 0),
      COPY.bytes,
    )
    const loaded = (await readFile(list, "utf8")).trim().split("\n")
    assert.deepStrictEqual(
      loaded.filter((url) => url.includes("/node_modules/") && !url.includes("/.cache/waybill-bundle/")),
      [],
    )
    assert.isAtMost(loaded.length, MAX_MODULES)
  })

  it.runIf(process.platform === "linux")("costs few starts of a bare Node", async () => {
    const ratios: Array<number> = []
    for (let left = ROUNDS; left > 0 && !ratios.some((ratio) => ratio <= BUDGET); left--) {
      const cost = await costOf(instance)
      ratios.push(cost / ((await costOf(bareStarts)) / BARE_STARTS))
    }
    assert.isAtMost(Math.min(...ratios), BUDGET, ratios.join(", "))
  })
})
