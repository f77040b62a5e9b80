import { defineConfig } from "vitest/config"
import * as CitusSuites from "./test/support/cells/citusSuites.ts"
import { LongFirst } from "./test/support/LongFirst.ts"

/**
 * What has a process of its own: three count what is on their heap, one turns the clock of its process. All others change
 * nothing of theirs (`test/tidy.test.ts` looks) and share it with the next: loading what they test takes most of them
 * longer than testing it.
 */
export const ALONE = [
  "test/attack/fuzz.test.ts",
  "test/attack/network/overload.test.ts",
  "test/dashboard/tail.test.ts",
  "test/server/templates/programs.test.ts",
]

const citus = (name: string, include: Array<string>, env: Record<string, string>) => ({
  extends: true as const,
  test: {
    name,
    globalSetup: ["test/support/cells/citusSetup.ts"],
    include,
    env,
    isolate: false,
    // A statement takes twice as long as on one server, and servers of three nodes share the machine.
    testTimeout: 180_000,
  },
})

/** Suites once more on a Citus cluster: with all accounts in a cell on a node, and with the cells that they make themselves. */
const onCitus = [
  citus("citus", CitusSuites.FILES, { WAYBILL_TEST_CELL: CitusSuites.CELL }),
  citus("citus-cells", CitusSuites.OF_CELLS, {}),
]

export default defineConfig({
  test: {
    globalSetup: ["test/support/postgres/globalSetup.ts"],
    setupFiles: ["test/support/seed.ts"],
    pool: "forks",
    sequence: { sequencer: LongFirst },
    // One more than a small machine has processors: a quarter of the time a file waits for what others do.
    maxWorkers: 3,
    // What hangs, hangs for ever; what only waits for its turn on a busy machine is not to be told a failure.
    testTimeout: 180_000,
    hookTimeout: 240_000,
    projects: [
      { extends: true, test: { name: "alone", include: ALONE } },
      {
        extends: true,
        test: {
          name: "together",
          include: ["test/**/*.test.ts"],
          exclude: [...ALONE, "**/node_modules/**"],
          isolate: false,
        },
      },
      ...(process.env["WAYBILL_TEST_CITUS_URL"] === undefined ? [] : onCitus),
    ],
  },
})
