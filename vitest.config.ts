import { defineConfig } from "vitest/config"
import * as CitusSuites from "./test/support/cells/citusSuites.ts"

/**
 * What has a process of its own: one counts what is on its heap, one turns the clock of its process. All others change
 * nothing of theirs (`test/tidy.test.ts` looks) and share it with the next: loading what they test takes most of them
 * longer than testing it.
 */
export const ALONE = ["test/attack/fuzz.test.ts", "test/dashboard/tail.test.ts"]

/** The suites of sending and delivering once more, with all accounts in a cell on a node of Citus. */
const onCitus = {
  extends: true as const,
  test: {
    name: "citus",
    globalSetup: ["test/support/cells/citusSetup.ts"],
    include: CitusSuites.FILES,
    env: { WAYBILL_TEST_CELL: CitusSuites.CELL },
    isolate: false,
    // A statement takes twice as long as on one server, and servers of three nodes share the machine.
    testTimeout: 180_000,
  },
}

export default defineConfig({
  test: {
    globalSetup: ["test/support/postgres/globalSetup.ts"],
    setupFiles: ["test/support/seed.ts"],
    pool: "forks",
    // One more than a small machine has processors: a quarter of the time a file waits for what others do.
    maxWorkers: 3,
    // What hangs, hangs for ever; what only waits for its turn on a busy machine is not to be told a failure.
    testTimeout: 60_000,
    hookTimeout: 120_000,
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
      ...(process.env["WAYBILL_TEST_CITUS_URL"] === undefined ? [] : [onCitus]),
    ],
  },
})
