import { defineConfig } from "vitest/config"

/**
 * Files that change nothing of their process (`test/tidy.test.ts` looks) share one with the next: loading what they test
 * takes most of them longer than testing it. Each of the others has a process of its own.
 */
export const TOGETHER = [
  "test/{api,client,contract,domain,house,mail,store,support}/*.test.ts",
  "test/server/*.test.ts",
  "test/embedded-postgres/settings.test.ts",
  "test/tidy.test.ts",
  "test/server/{doctor,feed,smtp,tasks,webhooks}/*.test.ts",
]

export default defineConfig({
  test: {
    globalSetup: ["test/support/globalSetup.ts"],
    setupFiles: ["test/support/seed.ts"],
    pool: "forks",
    // Postgres and the servers under test need their share of a small machine.
    maxWorkers: 2,
    // What hangs, hangs for ever; what only waits for its turn on a busy machine is not to be told a failure.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    projects: [
      { extends: true, test: { name: "alone", include: ["test/**/*.test.ts"], exclude: TOGETHER } },
      { extends: true, test: { name: "together", include: TOGETHER, isolate: false } },
    ],
  },
})
