import { ConfigProvider, Context, Effect, Layer, Redacted, Scope } from "effect"
import { createHmac, randomBytes } from "node:crypto"
import * as Installation from "../../../apps/server/src/boot/service/Installation.ts"
import * as Service from "../../../apps/server/src/boot/service/Service.ts"
import * as Settings from "../../../apps/server/src/settings/Settings.ts"
import * as Submission from "../../../apps/server/src/smtp/Submission.ts"
import { asService } from "../../support/cells/testCell.ts"
import * as DatabaseClock from "../../support/DatabaseClock.ts"
import * as Database from "../../support/postgres/Database.ts"
import { freePort } from "../../support/process/service.ts"

const settingsOf = (env: Readonly<Record<string, string>>) =>
  Effect.provide(Settings.load, ConfigProvider.layer(ConfigProvider.fromEnv({ env })))

const nodeOf = (settings: Settings.Settings, url: Redacted.Redacted) =>
  Service.http(settings, url).pipe(
    Layer.provideMerge(Layer.merge(Service.store(settings, url), Service.instance(settings))),
  )

interface Node {
  readonly url: string
  readonly smtpPort: number
}

const freshDatabase = Layer.effect(Database.Fresh, Database.freshDatabase)

/** A service with its first owner on a new database. */
export class House extends Context.Service<
  House,
  {
    readonly url: string
    readonly owner: { readonly email: string; readonly password: string }
    readonly key: string
    /** One more node on the same database, which starts when it is first needed. */
    readonly another: Effect.Effect<Node>
  }
>()("test/House") {
  static readonly layerWith = (
    more: Readonly<Record<string, string>>,
    fresh: Layer.Layer<Database.Fresh, unknown> = freshDatabase,
  ) =>
    Layer.unwrap(
      Effect.gen(function* () {
        const { url } = yield* Database.Fresh
        const env = {
          PORT: String(yield* Effect.promise(() => freePort())),
          // Lets each browser have an address of its own.
          TRUSTED_PROXIES: "127.0.0.0/8",
          WAYBILL_INSTANCE_KEY: randomBytes(32).toString("base64"),
          ...more,
        }
        const settings = yield* settingsOf(env)
        const start = Effect.gen(function* () {
          const port = yield* Effect.promise(() => freePort())
          const node = yield* settingsOf({ ...env, PORT: String(port), BASE_URL: Settings.urlOf(settings) })
          const context = yield* Layer.build(Layer.fresh(nodeOf(node, url)))
          const smtp = { host: "127.0.0.1", port: 0, name: "another", maxMessageBytes: 65_536, tracks: false }
          return {
            url: `http://127.0.0.1:${port}`,
            smtpPort: yield* Effect.provideContext(Submission.listen(smtp), context),
          }
        }).pipe(Effect.orDie)
        const house = Layer.effect(
          House,
          Effect.gen(function* () {
            const { first } = yield* Installation.ensure()
            if (first === undefined) return yield* Effect.die("the database is not fresh")
            const { key, owner } = first
            const another = yield* Effect.cached(
              asService(Effect.provideService(start, Scope.Scope, yield* Effect.scope)),
            )
            const { password } = owner
            return {
              url: Settings.urlOf(settings),
              key,
              owner: { ...owner, password: Redacted.value(password) },
              another,
            }
          }),
        )
        return Layer.provideMerge(house, nodeOf(settings, url))
      }),
    ).pipe(Layer.provideMerge(fresh))
  static readonly layer = House.layerWith({})
  /** Its minutes never end, for tests that count in a rate window. */
  static readonly layerOfOneMinute = House.layerWith({}, DatabaseClock.layerFresh)
}

export interface Seen {
  readonly status: number
  readonly headers: Headers
  // Untyped, since tests read responses of every kind.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly json: any
}

/** A browser with cookies and the headers of the dashboard's requests. */
export const browser = (url: string, address = `10.${[...randomBytes(3)].join(".")}`) => {
  const jar = new Map<string, string>()
  const request = async (
    method: string,
    path: string,
    { body, headers = {} }: { readonly body?: unknown; readonly headers?: Record<string, string> } = {},
  ): Promise<Seen> => {
    const response = await fetch(url + path, {
      method,
      redirect: "manual",
      headers: {
        origin: url,
        "x-waybill-dashboard": "1",
        "x-forwarded-for": address,
        ...(jar.size === 0 ? {} : { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join("; ") }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/u.exec(line) ?? []
      if (value === "" || /max-age=0/iu.test(line)) jar.delete(name)
      else jar.set(name, value)
    }
    const text = await response.text()
    return { status: response.status, headers: response.headers, json: text.startsWith("{") ? JSON.parse(text) : text }
  }
  return {
    jar,
    request: (...args: Parameters<typeof request>) => Effect.promise(() => request(...args)),
    signIn: ({ email, password }: { readonly email: string; readonly password: string }) =>
      Effect.promise(() => request("POST", "/auth/sign-in/email", { body: { email, password } })),
  }
}

/** Returns the token of a link that sets a password. */
export const tokenOf = (link: string): string => new URL(link).hash.slice(1)

const STEP_MS = 30_000
/** Minimum time left in a time step, so that its code is still valid when it arrives. */
const LEFT_MS = 5_000

/** An authenticator app that never returns a code twice. */
export const authenticator = (uri: string) => {
  let last = 0
  return Effect.gen(function* () {
    const now = Date.now()
    const present = Math.floor(now / STEP_MS)
    const oldest = STEP_MS - (now % STEP_MS) > LEFT_MS ? present - 1 : present
    last = Math.max(last + 1, oldest)
    // The code of the next step is accepted already; for a later one, time has to pass.
    if (last > present + 1) yield* Effect.sleep((last - 1) * STEP_MS - now)
    return totp(uri, last * STEP_MS)
  })
}

/** Returns the code of a time step (RFC 6238). */
export const totp = (uri: string, at_ms: number): string => {
  const secret = new URL(uri).searchParams.get("secret") ?? ""
  const bits = [...secret]
    .map((c) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(c).toString(2).padStart(5, "0"))
    .join("")
  const key = Buffer.from((bits.match(/.{8}/gu) ?? []).map((byte) => Number.parseInt(byte, 2)))
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(at_ms / 30_000)))
  const hash = createHmac("sha1", key).update(counter).digest()
  const offset = (hash.at(-1) ?? 0) & 15
  return String((hash.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, "0")
}
