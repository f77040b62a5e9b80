import { createVitest, type Vitest } from "vitest/node"

export interface Order {
  readonly file: string
  readonly text: string
  readonly tests: ReadonlyArray<string>
}
export interface Verdict {
  readonly passed: boolean
  /** The first failed test. */
  readonly by: string | undefined
}

/** A test may be slow on a busy machine, which is not a failure. */
const SLOW_MS = 60_000

/** Starts one vitest that replaces files in memory only. The checkout never changes. */
export const start = async () => {
  let order: Order | undefined
  const vitest: Vitest = await createVitest(
    "test",
    {
      config: false,
      watch: false,
      include: ["test/domain/*.test.ts", "test/mail/reply*.test.ts"],
      pool: "threads",
      isolate: false,
      maxWorkers: 1,
      bail: 1,
      testTimeout: SLOW_MS,
      // Skips tests of duration, which are unreliable here.
      testNamePattern: /^(?!.*(?:for ever|explodes))/u,
      // The cache would return the unmodified file.
      fsModuleCache: false,
      server: { deps: { inline: [/\/packages\//u, /@waybill/u] } },
      reporters: [{}],
      onConsoleLog: () => false,
    },
    {
      plugins: [
        {
          name: "mutant",
          enforce: "pre",
          load: (id: string) => (order !== undefined && id.split("?")[0] === order.file ? order.text : undefined),
        },
      ],
    },
  )
  await vitest.standalone()
  const judge = async (next: Order): Promise<Verdict> => {
    order = next
    vitest.invalidateFile(next.file)
    const all = await vitest.globTestSpecifications()
    const specs = all.filter(({ moduleId }) => next.tests.some((test) => moduleId.endsWith(test)))
    const { testModules, unhandledErrors } = await vitest.rerunTestSpecifications(specs)
    vitest.invalidateFile(next.file)
    order = undefined
    // The result includes modules of earlier runs.
    const results = testModules.filter(({ moduleId }) => specs.some((spec) => spec.moduleId === moduleId))
    for (const module of results) {
      if (module.ok()) continue
      for (const test of module.children.allTests("failed")) return { passed: false, by: test.fullName }
      return { passed: false, by: module.moduleId }
    }
    if (results.length < specs.length) throw new Error(`only ${results.length} of ${specs.length} test files ran`)
    return { passed: unhandledErrors.length === 0, by: undefined }
  }
  return { judge, close: () => vitest.close() }
}
