import type { Identity } from "@waybill/store/users/Users"
import { APIError, createAuthMiddleware, getSessionFromCtx } from "better-auth/api"
import { hashPassword, symmetricDecrypt, verifyPassword } from "better-auth/crypto"
import * as Authenticator from "./Authenticator.ts"
import * as Identity from "./Identity.ts"
import { FRESH_MINUTES } from "./Options.ts"
import type { Proofs } from "./Proofs.ts"

/** What the guards ask of the store. */
export interface Guarding {
  readonly now_ms: () => Promise<number>
  readonly identities: (email: string) => Promise<ReadonlyArray<Identity>>
  /** Counts a try of this user; `false` once the window is used up. */
  readonly allows: (tries: "code" | "password", user_id: string) => Promise<boolean>
  readonly authenticatorOf: (user_id: string) => Promise<{ readonly id: string; readonly secret: string } | undefined>
  /** Takes the counter of a passkey; `false` for one that does not go up. */
  readonly acceptCounter: (credential_id: string, counter: number) => Promise<boolean>
  /** Takes the code of a time step, at most once. */
  readonly acceptStep: (factor_id: string, step: number) => Promise<boolean>
}

/** Cookie that holds which passkey ceremony a browser is in. */
export const CEREMONY_COOKIE = "passkey"
/** A code that is none: the library counts it as a wrong one. */
const NO_CODE = "-"

type Context = Parameters<Parameters<typeof createAuthMiddleware>[0]>[0]

const PASSWORD_PATHS: ReadonlySet<string> = new Set(["/change-password", "/two-factor/enable", "/two-factor/disable"])
const CODE_PATHS: ReadonlySet<string> = new Set(["/two-factor/verify-totp", "/two-factor/verify-backup-code"])
const CEREMONY_PATHS: ReadonlySet<string> = new Set(["/passkey/verify-registration", "/passkey/verify-authentication"])
/** How the library names a passkey ceremony, and nothing else that its signature could stand under. */
const CEREMONY = /^[\w-]{32}$/u

/** What happens before an endpoint of the library: who is meant, how often they may try, and each code only once. */
export const before = (guarding: Guarding, proofs: Proofs) => {
  const decoy = hashPassword(NO_CODE)
  return createAuthMiddleware(async (ctx) => {
    if (ctx.path === "/sign-in/email") {
      const { email, password } = ctx.body
      const identities = await guarding.identities(email)
      const id = await Identity.byPassword(identities, password, await decoy, verifyPassword)
      const found = identities.find((each) => each.id === id)
      if (found !== undefined) proofs.begin(ctx, { user_id: found.id, version: found.proof_version })
      return { context: { body: { ...ctx.body, email: Identity.nameOf(id) } } }
    }
    if (PASSWORD_PATHS.has(ctx.path)) {
      const session = await getSessionFromCtx(ctx)
      if (session !== null) await count(guarding, "password", session.user.id)
    }
    // Not left to the caller: whoever else knows the old password may be signed in with it.
    if (ctx.path === "/change-password") return { context: { body: { ...ctx.body, revokeOtherSessions: true } } }
    if (CODE_PATHS.has(ctx.path)) return await guardCode(guarding, proofs, ctx)
    if (ctx.path === "/passkey/delete-passkey") await requireFresh(guarding, ctx)
    if (CEREMONY_PATHS.has(ctx.path)) await requireCeremony(ctx)
    return
  })
}

const count = async (guarding: Guarding, tries: "code" | "password", user_id: string): Promise<void> => {
  if (!(await guarding.allows(tries, user_id)))
    throw new APIError("TOO_MANY_REQUESTS", { code: "TOO_MANY_TRIES", message: "" })
}

const guardCode = async (guarding: Guarding, proofs: Proofs, ctx: Context) => {
  const user_id = await codeGiver(ctx)
  if (user_id === undefined) return
  await proofs.beforeSession(ctx, user_id)
  await count(guarding, "code", user_id)
  if (ctx.path !== "/two-factor/verify-totp") return
  const factor = await guarding.authenticatorOf(user_id)
  if (factor === undefined) return
  const secret = await symmetricDecrypt({ key: ctx.context.secretConfig, data: factor.secret })
  const step = Authenticator.stepOf(secret, ctx.body.code, await guarding.now_ms())
  if (step !== undefined && (await guarding.acceptStep(factor.id, step))) return
  return { context: { body: { ...ctx.body, code: NO_CODE } } }
}

/** Whose code it is: of who is signed in, and otherwise of who has given a password; in the library's order. */
const codeGiver = async (ctx: Context): Promise<string | undefined> => {
  const session = await getSessionFromCtx(ctx)
  if (session !== null) return session.user.id
  const { name } = ctx.context.createAuthCookie("two_factor")
  const challenge = await ctx.getSignedCookie(name, ctx.context.secret)
  if (typeof challenge !== "string" || challenge === "") return undefined
  return (await ctx.context.internalAdapter.findVerificationValue(challenge))?.value
}

/** The library asks this of adding a passkey, but not of removing one. */
const requireFresh = async (guarding: Guarding, ctx: Context): Promise<void> => {
  const session = await getSessionFromCtx(ctx)
  if (session === null) return
  const age_ms = (await guarding.now_ms()) - new Date(session.session.createdAt).getTime()
  if (age_ms >= FRESH_MINUTES * 60_000) throw new APIError("FORBIDDEN", { code: "SESSION_NOT_FRESH", message: "" })
}

/** Signatures of cookies do not say which cookie they are of: a waiting second factor is no passkey ceremony. */
const requireCeremony = async (ctx: Context): Promise<void> => {
  const { name } = ctx.context.createAuthCookie(CEREMONY_COOKIE)
  const ceremony = await ctx.getSignedCookie(name, ctx.context.secret)
  if (typeof ceremony !== "string" || !CEREMONY.test(ceremony))
    throw new APIError("BAD_REQUEST", { code: "CHALLENGE_NOT_FOUND", message: "" })
}

/** The library compares with what it has read, so two copies of a passkey could both sign in at the same moment. */
export const requireCounter = async (guarding: Guarding, credential_id: string, counter: number): Promise<void> => {
  if (!(await guarding.acceptCounter(credential_id, counter)))
    throw new APIError("UNAUTHORIZED", { code: "AUTHENTICATION_FAILED", message: "" })
}

/** Refuses a passkey that did not check its owner: it stands for both factors, so possession alone is too little. */
export const requireUserVerified = (isVerified: boolean | undefined): void => {
  if (isVerified !== true) throw new APIError("UNAUTHORIZED", { code: "USER_NOT_VERIFIED", message: "" })
}
