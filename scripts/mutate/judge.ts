import { createVitest, type Vitest } from "vitest/node"

export interface Order {
  readonly file: string
  readonly text: string
  readonly tests: ReadonlyArray<string>
}
export interface Verdict {
  readonly passed: boolean
  /** The first test that noticed. */
  readonly by: string | undefined
}

/** On a busy machine a test may wait long for its turn: that is no mistake noticed. */
const SLOW_MS = 60_000

/** One warm vitest, whose files are changed in its memory alone: the checkout is never touched. */
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
      // How long something takes says nothing here, where everything is slow at times.
      testNamePattern: /^(?!.*(?:for ever|explodes))/u,
      // What was transformed before would be taken for what it is now.
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
    // It answers with every module that it ever ran, as that one last went.
    const asked = testModules.filter(({ moduleId }) => specs.some((spec) => spec.moduleId === moduleId))
    for (const module of asked) {
      if (module.ok()) continue
      for (const test of module.children.allTests("failed")) return { passed: false, by: test.fullName }
      return { passed: false, by: module.moduleId }
    }
    if (asked.length < specs.length) throw new Error(`of ${specs.length} files of tests ${asked.length} were run`)
    return { passed: unhandledErrors.length === 0, by: undefined }
  }
  return { judge, close: () => vitest.close() }
}
