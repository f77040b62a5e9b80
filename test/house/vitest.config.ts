import { defineConfig } from "vitest/config"

/** The tests that only read the checkout: no Postgres is started for them. */
export default defineConfig({
  test: {
    include: ["test/tidy.test.ts", "test/house/**/*.test.ts"],
    root: ".",
    pool: "threads",
    isolate: false,
    // As for all others: what waits for its turn on a busy machine has not failed.
    testTimeout: 60_000,
  },
})
