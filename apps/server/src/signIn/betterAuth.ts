import { passkey } from "@better-auth/passkey"
import { betterAuth } from "better-auth"
import { createAuthMiddleware } from "better-auth/api"
import { genericOAuth } from "better-auth/plugins/generic-oauth"
import { twoFactor } from "better-auth/plugins/two-factor"
import type { Pool } from "pg"
import { ADDRESS_HEADER, type Options, PATH } from "./Options.ts"

/** Guessable passwords are refused by their length alone: NIST SP 800-63B asks for no rules about characters. */
export const MIN_PASSWORD_CHARS = 12
export const MAX_PASSWORD_CHARS = 256
/** A session that is used at least this often never ends by itself. */
export const SESSION_DAYS = 14
/** How long after signing in a password, a second factor or a passkey may be changed without proving oneself again. */
export const FRESH_MINUTES = 60
/** Tries to sign in, to give a second factor or to use a link, for each address. */
export const TRIES_PER_MINUTE = 10
/** Wrong codes in a row after which an account takes none for a while. */
export const MAX_WRONG_CODES = 10

const DAY_SECONDS = 24 * 60 * 60
const FEW_TRIES = { window: 60, max: TRIES_PER_MINUTE }

const timestamps = { createdAt: "created_at", updatedAt: "updated_at" }

/** Nobody signs up: members are invited, and only what the dashboard uses is reachable. */
const CLOSED = [
  "/request-password-reset",
  "/sign-up/email",
  "/change-email",
  "/delete-user",
  "/send-verification-email",
  "/verify-email",
  "/link-social",
  "/get-access-token",
  "/refresh-token",
  "/account-info",
  "/error",
  "/ok",
]

const oidcPlugin = ({ clientId, clientSecret, issuer }: NonNullable<Options["oidc"]>) =>
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
      },
    ],
  })

/** The library, told to live in our tables, under our paths and by our rules. */
export const make = (options: Options, database: Pool) =>
  betterAuth({
    appName: "Waybill",
    basePath: PATH,
    baseURL: { allowedHosts: [...options.hosts], fallback: options.url },
    secret: options.secret,
    database,
    telemetry: { enabled: false },
    logger: { disabled: true },
    disabledPaths: options.oidc === undefined ? [...CLOSED, "/sign-in/social"] : CLOSED,
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      minPasswordLength: MIN_PASSWORD_CHARS,
      maxPasswordLength: MAX_PASSWORD_CHARS,
      revokeSessionsOnPasswordReset: true,
      onPasswordReset: ({ user }) => options.afterPassword(user.id),
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
    rateLimit: {
      enabled: true,
      storage: "database",
      modelName: "user_rate_limits",
      fields: { lastRequest: "last_request" },
      customRules: {
        "/sign-in/*": FEW_TRIES,
        "/two-factor/*": FEW_TRIES,
        "/reset-password": FEW_TRIES,
        "/passkey/verify-authentication": FEW_TRIES,
        "/change-password": FEW_TRIES,
      },
    },
    advanced: {
      cookiePrefix: "waybill",
      useSecureCookies: options.url.startsWith("https://"),
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER] },
      // Never sent along from another site, not even by a link. The short-lived ones of OIDC must be: they stay Lax.
      cookies: { session_token: { attributes: { sameSite: "strict" } } },
    },
    hooks: {
      // Not left to the caller: whoever else knows the old password may be signed in with it.
      before: createAuthMiddleware(async ({ body, path }) =>
        path === "/change-password" ? { context: { body: { ...body, revokeOtherSessions: true } } } : undefined,
      ),
    },
    databaseHooks: {
      session: { create: { before: options.beforeSession, after: options.afterSession } },
      account: {
        update: {
          // Of a credential only the password ever changes; one that a link sets is told of above.
          after: async ({ providerId, userId }) => {
            if (providerId === "credential") await options.afterPassword(userId)
          },
        },
      },
    },
    plugins: [
      twoFactor({
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
      }),
      passkey({
        rpName: "Waybill",
        rpID: options.passkeyDomain,
        origin: [...options.origins],
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
      }),
      ...(options.oidc === undefined ? [] : [oidcPlugin(options.oidc)]),
    ],
  })

export type BetterAuth = ReturnType<typeof make>
