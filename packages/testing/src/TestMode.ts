import * as Api from "./Api.ts"
import type { Service } from "./Service.ts"

const NAME = "Test suite"
const SCOPES = ["admin"]

/** A test key and the clock that its mail lives on. */
export interface TestMode {
  readonly key: string
  readonly clock: string
}

/** Makes a clock that shows the present time, and a key whose mail lives on it. */
export const begin = async ({ key, url }: Service): Promise<TestMode> => {
  const admin = Api.make(url, key)
  const create = (clock: object) => admin.post("/v1/api-keys", { name: NAME, mode: "test", scopes: SCOPES, ...clock })
  const first = (await create({})) as { readonly key: string }
  const clock = (await Api.make(url, first.key).post("/v1/test/clocks", { name: NAME })) as { readonly id: string }
  const own = (await create({ test_clock: clock.id })) as { readonly key: string }
  return { key: own.key, clock: clock.id }
}
