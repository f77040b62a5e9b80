import * as SourceAddresses from "@waybill/store/sources/SourceAddresses"
import * as SourcePools from "@waybill/store/sources/SourcePools"
import { Effect } from "effect"
import type { SourceEntry } from "../settings/SourceSetting.ts"
import { DEFAULT_POOL } from "./PoolConfiguration.ts"

/** Adds the addresses of SOURCE_ADDRESSES that are new. One that is known keeps its pool and its name. */
export const addFromSetting = Effect.fn("addFromSetting")(function* (sources: ReadonlyArray<SourceEntry>) {
  if (sources.length === 0) return
  yield* SourcePools.ensure(DEFAULT_POOL)
  for (const { address, name } of sources) {
    const added = yield* SourceAddresses.add({ address, ehlo: name, pool: DEFAULT_POOL, warm_up: null })
    if (added === "full")
      yield* Effect.logError("source address of SOURCE_ADDRESSES was not added: there are too many", { address })
  }
})
