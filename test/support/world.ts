import { Effect, Layer } from "effect"
import { Fresh, freshDatabase } from "./postgres/database.ts"
import { store } from "./mail/delivery.ts"

/** A database of its own, and a node's services on it. */
export const World = Layer.unwrap(Effect.map(Fresh, ({ url }) => store(url))).pipe(
  Layer.provideMerge(Layer.effect(Fresh, freshDatabase)),
)
