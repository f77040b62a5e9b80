import { Effect } from "effect"
import { Resend } from "resend"
import { assert } from "../../support/effectTest.ts"
import { HttpWorld } from "../../support/world/HttpWorld.ts"

interface Given<A> {
  readonly data: A | null
  readonly error: { readonly statusCode: number | null; readonly name: string; readonly message: string } | null
}

/** Returns the data of a call that works. */
export const good = <A>(call: () => Promise<Given<A>>) =>
  Effect.map(Effect.promise(call), ({ data, error }) => data ?? assert.fail(JSON.stringify(error)))

/** Returns status, name and message of a call that is refused. */
export const refusal = <A>(call: () => Promise<Given<A>>) =>
  Effect.map(Effect.promise(call), ({ data, error }) =>
    error === null ? assert.fail(JSON.stringify(data)) : ([error.statusCode, error.name, error.message] as const),
  )

/** An account with a key, and the package with that key. */
export const setUp = Effect.gen(function* () {
  const world = yield* HttpWorld
  const account = yield* world.account()
  const { secret: key } = yield* world.key(account)
  const client = (secret: string) => new Resend(secret, { baseUrl: `${world.url}/compat/resend` })
  const request = (method: string, path: string, body?: object) =>
    world.request(method, path, { key, ...(body === undefined ? {} : { body }) })
  return { world, account, key, client, resend: client(key), request }
})
