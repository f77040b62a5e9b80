import { passkey } from "@better-auth/passkey"
import { betterAuth } from "better-auth"
import { genericOAuth } from "better-auth/plugins/generic-oauth"
import { twoFactor } from "better-auth/plugins/two-factor"
import type { Pool } from "pg"
import * as Guards from "./Guards.ts"
import * as Identities from "./Identities.ts"
import * as Proofs from "./Proofs.ts"
import { ADDRESS_HEADER, FRESH_MINUTES, MAX_PASSWORD_CHARS, MIN_PASSWORD_CHARS, type Options, PATH } from "./Options.ts"

/** Days after which an unused session ends. */
export const SESSION_DAYS = 14
/** Number of wrong codes in a row after which a user's codes are refused for a while. */
export const MAX_WRONG_CODES = 10

const DAY_SECONDS = 24 * 60 * 60

/** The library's name of the path to which the identity provider redirects. */
const PROVIDER_CALLBACK = "/callback/:id"
/** Paths that set up or remove a second factor. */
const FACTOR_PATHS: ReadonlySet<string> = new Set(["/two-factor/verify-totp", "/two-factor/disable"])

const timestamps = { createdAt: "created_at", updatedAt: "updated_at" }

const oidcPlugin = (
  { clientId, clientSecret, issuer }: NonNullable<Options["oidc"]>,
  identities: Options["guards"]["identities"],
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
          email: Identities.nameOf(
            typeof email === "string" ? Identities.bySubject(await identities(email), String(sub ?? id)) : undefined,
          ),
        }),
      },
    ],
  })

/** Plugin of the second factor, which is required after a password and after the identity provider. */
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

/** Plugin of passkeys, which replace a password and a second factor. */
const passkeys = (options: Options) =>
  passkey({
    rpName: "Waybill",
    rpID: options.passkeyDomain,
    origin: [...options.origins],
    authenticatorSelection: { residentKey: "preferred", userVerification: "required" },
    advanced: { webAuthnChallengeCookie: Guards.CEREMONY_COOKIE },
    registration: {
      afterVerification: ({ verification }) => Guards.requireUserVerified(verification.registrationInfo?.userVerified),
    },
    authentication: {
      afterVerification: async ({ verification }) => {
        const { credentialID, newCounter, userVerified } = verification.authenticationInfo
        Guards.requireUserVerified(userVerified)
        await Guards.requireCounter(options.guards, credentialID, newCounter)
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

/** Configures the library with the tables, paths and rules of Waybill. */
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
    // Errors are thrown, so that they are logged and answered like others; the library would print them.
    onAPIError: { throw: true, errorURL: "/sign-in" },
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      minPasswordLength: MIN_PASSWORD_CHARS,
      maxPasswordLength: MAX_PASSWORD_CHARS,
      revokeSessionsOnPasswordReset: true,
      // Ends sessions that began after the library ended the others and before it wrote the password.
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
    // Attempts are counted before a request reaches the library, for all paths and nodes together.
    rateLimit: { enabled: false },
    advanced: {
      cookiePrefix: "waybill",
      useSecureCookies: options.url.startsWith("https://"),
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER] },
      // Not sent with requests from other sites, not even links. Cookies of OIDC have to be, so they stay Lax.
      cookies: { session_token: { attributes: { sameSite: "strict" } } },
    },
    hooks: { before: Guards.before(options.guards, changing) },
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
          // Only the password of a credential ever changes. A password set by a link is handled above.
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
      ...(options.oidc === undefined ? [] : [oidcPlugin(options.oidc, options.guards.identities)]),
    ],
  })
}

/** Finds users by unique names, since an email address may belong to several users. */
export const make = async (options: Options, database: Pool) => {
  const auth = configured(options, database)
  const { internalAdapter } = await auth.$context
  internalAdapter.findUserByEmail = async (name) => {
    const id = Identities.idIn(name)
    const user = id === undefined ? null : await internalAdapter.findUserById(id)
    return user === null ? null : { user, accounts: await internalAdapter.findAccounts(user.id) }
  }
  return auth
}

export type BetterAuth = Awaited<ReturnType<typeof make>>
