import { APIError, createAuthMiddleware, getSessionFromCtx } from "better-auth/api"
import { hashPassword, symmetricDecrypt, verifyPassword } from "better-auth/crypto"
import * as Authenticator from "./Authenticator.ts"
import * as Identities from "./Identities.ts"
import { FRESH_MINUTES, type GuardStore } from "./Options.ts"
import type { Proofs } from "./Proofs.ts"

/** Cookie with the passkey ceremony that a browser is in. */
export const CEREMONY_COOKIE = "passkey"
/** Value that no code has, so that the library counts it as a wrong one. */
const NO_CODE = "-"

type Context = Parameters<Parameters<typeof createAuthMiddleware>[0]>[0]

const PASSWORD_PATHS: ReadonlySet<string> = new Set(["/change-password", "/two-factor/enable", "/two-factor/disable"])
const CODE_PATHS: ReadonlySet<string> = new Set(["/two-factor/verify-totp", "/two-factor/verify-backup-code"])
const CEREMONY_PATHS: ReadonlySet<string> = new Set(["/passkey/verify-registration", "/passkey/verify-authentication"])
/** Form of the ids of passkey ceremonies, and of nothing else that the library signs. */
const CEREMONY = /^[\w-]{32}$/u

/** Runs before an endpoint of the library: finds the user, limits attempts and accepts each code only once. */
export const before = (store: GuardStore, proofs: Proofs) => {
  const decoy = hashPassword(NO_CODE)
  return createAuthMiddleware(async (ctx) => {
    if (ctx.path === "/sign-in/email") {
      const { email, password } = ctx.body
      const identities = await store.identities(email)
      const id = await Identities.byPassword(identities, password, await decoy, verifyPassword)
      const user = identities.find((each) => each.id === id)
      if (user !== undefined) proofs.begin(ctx, { user_id: user.id, version: user.proof_version })
      return { context: { body: { ...ctx.body, email: Identities.nameOf(id) } } }
    }
    if (PASSWORD_PATHS.has(ctx.path)) {
      const session = await getSessionFromCtx(ctx)
      if (session !== null) await count(store, "password", session.user.id)
    }
    // Always ends other sessions, since others who know the old password may be signed in with it.
    if (ctx.path === "/change-password") return { context: { body: { ...ctx.body, revokeOtherSessions: true } } }
    if (CODE_PATHS.has(ctx.path)) return await guardCode(store, proofs, ctx)
    if (ctx.path === "/passkey/delete-passkey") await requireFresh(store, ctx)
    if (CEREMONY_PATHS.has(ctx.path)) await requireCeremony(ctx)
    return
  })
}

const count = async (store: GuardStore, tries: "code" | "password", user_id: string): Promise<void> => {
  if (!(await store.allows(tries, user_id)))
    throw new APIError("TOO_MANY_REQUESTS", { code: "TOO_MANY_TRIES", message: "" })
}

const guardCode = async (store: GuardStore, proofs: Proofs, ctx: Context) => {
  const user_id = await userOfCode(ctx)
  if (user_id === undefined) return
  await proofs.beforeSession(ctx, user_id)
  await count(store, "code", user_id)
  if (ctx.path !== "/two-factor/verify-totp") return
  const factor = await store.authenticatorOf(user_id)
  if (factor === undefined) return
  const secret = await symmetricDecrypt({ key: ctx.context.secretConfig, data: factor.secret })
  const step = Authenticator.stepOf(secret, ctx.body.code, await store.now_ms())
  if (step !== undefined && (await store.acceptStep(factor.id, step))) return
  return { context: { body: { ...ctx.body, code: NO_CODE } } }
}

/** Returns the user of a code: the one who is signed in, or the one who entered a password, in the library's order. */
const userOfCode = async (ctx: Context): Promise<string | undefined> => {
  const session = await getSessionFromCtx(ctx)
  if (session !== null) return session.user.id
  const { name } = ctx.context.createAuthCookie("two_factor")
  const challenge = await ctx.getSignedCookie(name, ctx.context.secret)
  if (typeof challenge !== "string" || challenge === "") return undefined
  return (await ctx.context.internalAdapter.findVerificationValue(challenge))?.value
}

/** Requires a recent sign-in to remove a passkey, which the library requires only to add one. */
const requireFresh = async (store: GuardStore, ctx: Context): Promise<void> => {
  const session = await getSessionFromCtx(ctx)
  if (session === null) return
  const age_ms = (await store.now_ms()) - new Date(session.session.createdAt).getTime()
  if (age_ms >= FRESH_MINUTES * 60_000) throw new APIError("FORBIDDEN", { code: "SESSION_NOT_FRESH", message: "" })
}

/** Requires the cookie of a passkey ceremony. A signature does not name its cookie, so another cookie could be sent. */
const requireCeremony = async (ctx: Context): Promise<void> => {
  const { name } = ctx.context.createAuthCookie(CEREMONY_COOKIE)
  const ceremony = await ctx.getSignedCookie(name, ctx.context.secret)
  if (typeof ceremony !== "string" || !CEREMONY.test(ceremony))
    throw new APIError("BAD_REQUEST", { code: "CHALLENGE_NOT_FOUND", message: "" })
}

/** Stores the counter of a passkey, since the library's own check lets two copies of a passkey sign in at once. */
export const requireCounter = async (store: GuardStore, credential_id: string, counter: number): Promise<void> => {
  if (!(await store.acceptCounter(credential_id, counter)))
    throw new APIError("UNAUTHORIZED", { code: "AUTHENTICATION_FAILED", message: "" })
}

/** Requires that a passkey verified its user, since it replaces both factors. */
export const requireUserVerified = (isVerified: boolean | undefined): void => {
  if (isVerified !== true) throw new APIError("UNAUTHORIZED", { code: "USER_NOT_VERIFIED", message: "" })
}
