import { passkey } from "@better-auth/passkey"
import { betterAuth } from "better-auth"
import { genericOAuth } from "better-auth/plugins/generic-oauth"
import { twoFactor } from "better-auth/plugins/two-factor"
import type { Pool } from "pg"
import { before, CEREMONY_COOKIE, requireCounter, requireUserVerified } from "./Guards.ts"
import * as Identity from "./Identity.ts"
import * as Proofs from "./Proofs.ts"
import { ADDRESS_HEADER, FRESH_MINUTES, MAX_PASSWORD_CHARS, MIN_PASSWORD_CHARS, type Options, PATH } from "./Options.ts"

/** A session that is used at least this often never ends by itself. */
export const SESSION_DAYS = 14
/** Wrong codes in a row after which an account takes none for a while. */
export const MAX_WRONG_CODES = 10

const DAY_SECONDS = 24 * 60 * 60

/** As the library names the path to which the identity provider sends a browser back. */
const PROVIDER_CALLBACK = "/callback/:id"
/** Where a second factor is set up and removed; a code at sign-in changes nothing of a user. */
const FACTOR_PATHS: ReadonlySet<string> = new Set(["/two-factor/verify-totp", "/two-factor/disable"])

const timestamps = { createdAt: "created_at", updatedAt: "updated_at" }

const oidcPlugin = (
  { clientId, clientSecret, issuer }: NonNullable<Options["oidc"]>,
  identities: Options["guarding"]["identities"],
) =>
  genericOAuth({
    config: [
      {
        providerId: "oidc",
        discoveryUrl: `${issuer.replace(/\/$/u, "")}/.well-known/openid-configuration`,
        clientId,
        clientSecret,
        scopes: ["openid", "email", "profile"],
        pkce: true,
        disableSignUp: true,
        mapProfileToUser: async ({ email, id, sub }) => ({
          email: Identity.nameOf(
            typeof email === "string" ? Identity.bySubject(await identities(email), String(sub ?? id)) : undefined,
          ),
        }),
      },
    ],
  })

/** The second factor, which is asked for after the identity provider as well as after a password. */
const secondFactor = () => {
  const plugin = twoFactor({
    issuer: "Waybill",
    twoFactorTable: "user_two_factors",
    accountLockout: { maxFailedAttempts: MAX_WRONG_CODES },
    schema: {
      user: { fields: { twoFactorEnabled: "two_factor_enabled" } },
      twoFactor: {
        modelName: "user_two_factors",
        fields: {
          backupCodes: "backup_codes",
          userId: "user_id",
          failedVerificationCount: "failed_verification_count",
          lockedUntil: "locked_until",
        },
      },
    },
  })
  for (const hook of plugin.hooks.after) {
    const { matcher } = hook
    hook.matcher = (context) => matcher(context) || context.path === PROVIDER_CALLBACK
  }
  return plugin
}

/** Passkeys, which stand for a password and a second factor together. */
const passkeys = (options: Options) =>
  passkey({
    rpName: "Waybill",
    rpID: options.passkeyDomain,
    origin: [...options.origins],
    authenticatorSelection: { residentKey: "preferred", userVerification: "required" },
    advanced: { webAuthnChallengeCookie: CEREMONY_COOKIE },
    registration: {
      afterVerification: ({ verification }) => requireUserVerified(verification.registrationInfo?.userVerified),
    },
    authentication: {
      afterVerification: async ({ verification }) => {
        const { credentialID, newCounter, userVerified } = verification.authenticationInfo
        requireUserVerified(userVerified)
        await requireCounter(options.guarding, credentialID, newCounter)
      },
    },
    schema: {
      passkey: {
        modelName: "user_passkeys",
        fields: {
          publicKey: "public_key",
          userId: "user_id",
          credentialID: "credential_id",
          deviceType: "device_type",
          backedUp: "backed_up",
          createdAt: "created_at",
        },
      },
    },
  })

/** The library, told to live in our tables, under our paths and by our rules. */
const configured = (options: Options, database: Pool) => {
  const changing = Proofs.make(options.proofs)
  return betterAuth({
    appName: "Waybill",
    basePath: PATH,
    baseURL: { allowedHosts: [...options.hosts], fallback: options.url },
    secret: options.secret,
    database,
    telemetry: { enabled: false },
    logger: { level: "warn", log: options.log },
    // Errors leave the library as they are, and are logged and answered like any other; else it prints them itself.
    onAPIError: { throw: true, errorURL: "/sign-in" },
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      minPasswordLength: MIN_PASSWORD_CHARS,
      maxPasswordLength: MAX_PASSWORD_CHARS,
      revokeSessionsOnPasswordReset: true,
      // The library ends the sessions before it writes the password; one that was begun in between ends here.
      onPasswordReset: async ({ user }) => {
        await changing.changed(null, user.id)
        await options.endSessions(user.id)
      },
    },
    user: {
      modelName: "users",
      fields: { emailVerified: "email_verified", ...timestamps },
    },
    session: {
      modelName: "user_sessions",
      fields: {
        userId: "user_id",
        expiresAt: "expires_at",
        ipAddress: "ip_address",
        userAgent: "user_agent",
        ...timestamps,
      },
      expiresIn: SESSION_DAYS * DAY_SECONDS,
      updateAge: DAY_SECONDS,
      freshAge: FRESH_MINUTES * 60,
    },
    account: {
      modelName: "user_credentials",
      fields: {
        userId: "user_id",
        providerId: "provider_id",
        accountId: "subject",
        accessToken: "access_token",
        refreshToken: "refresh_token",
        idToken: "id_token",
        accessTokenExpiresAt: "access_token_expires_at",
        refreshTokenExpiresAt: "refresh_token_expires_at",
        ...timestamps,
      },
      encryptOAuthTokens: true,
    },
    verification: { modelName: "user_verifications", fields: { expiresAt: "expires_at", ...timestamps } },
    // Tries are counted before a request comes here, for all its paths and nodes together.
    rateLimit: { enabled: false },
    advanced: {
      cookiePrefix: "waybill",
      useSecureCookies: options.url.startsWith("https://"),
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER] },
      // Never sent along from another site, not even by a link. The short-lived ones of OIDC must be: they stay Lax.
      cookies: { session_token: { attributes: { sameSite: "strict" } } },
    },
    hooks: { before: before(options.guarding, changing) },
    databaseHooks: {
      session: {
        create: {
          before: async (session, context) => {
            await changing.beforeSession(context, session.userId)
            return await options.beforeSession(session)
          },
          after: async (session, context) => {
            await changing.afterSession(context, session)
            await options.afterSession(session)
          },
        },
      },
      verification: { create: { after: (verification, context) => changing.afterVerification(context, verification) } },
      account: {
        update: {
          // Of a credential only the password ever changes; one that a link sets is told of above.
          after: async ({ providerId, userId }, context) => {
            if (providerId === "credential") await changing.changed(context, userId)
          },
        },
      },
      user: {
        update: {
          after: async ({ id }, context) => {
            if (FACTOR_PATHS.has(context?.path ?? "")) await changing.changed(context, id)
          },
        },
      },
    },
    plugins: [
      secondFactor(),
      passkeys(options),
      ...(options.oidc === undefined ? [] : [oidcPlugin(options.oidc, options.guarding.identities)]),
    ],
  })
}

/** Looks users up by the names that stand for one user each, since an address may stand for several. */
export const make = async (options: Options, database: Pool) => {
  const auth = configured(options, database)
  const { internalAdapter } = await auth.$context
  internalAdapter.findUserByEmail = async (name) => {
    const id = Identity.idIn(name)
    const user = id === undefined ? null : await internalAdapter.findUserById(id)
    return user === null ? null : { user, accounts: await internalAdapter.findAccounts(user.id) }
  }
  return auth
}

export type BetterAuth = Awaited<ReturnType<typeof make>>
