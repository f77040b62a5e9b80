import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/globalSetup.ts"],
    setupFiles: ["test/support/seed.ts"],
    pool: "forks",
    // Postgres and the servers under test need their share of a small machine.
    maxWorkers: 2,
    // What hangs, hangs for ever; what only waits for its turn on a busy machine is not to be told a failure.
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
})
