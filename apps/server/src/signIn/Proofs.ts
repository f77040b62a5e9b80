import { APIError } from "better-auth/api"
import type { ProofStore } from "./Options.ts"

interface BegunProof {
  readonly user_id: string
  readonly version: number | undefined
}

interface RequestContext {
  readonly request?: Request | undefined
}

const TRUST_PREFIX = "trust-device-"

/**
 * Refuses a sign-in if the password or a second factor was changed meanwhile. The version is read before the proof is
 * checked and again once the session is written; a later change deletes that session.
 */
export const make = (store: ProofStore) => {
  const requests = new WeakMap<Request, BegunProof>()
  const begin = (context: RequestContext | null, begun: BegunProof): void => {
    if (context?.request !== undefined && !requests.has(context.request)) requests.set(context.request, begun)
  }
  const isOutdated = async (context: RequestContext | null, user_id: string): Promise<boolean> => {
    const begun = context?.request === undefined ? undefined : requests.get(context.request)
    return begun?.user_id === user_id && begun.version !== (await store.version(user_id))
  }
  return {
    begin,
    /** Begins here if the user was unknown before, since the proof was checked a moment ago. */
    beforeSession: async (context: RequestContext | null, user_id: string): Promise<void> =>
      begin(context, { user_id, version: await store.version(user_id) }),
    afterSession: async (context: RequestContext | null, session: { readonly id: string; readonly userId: string }) => {
      if (!(await isOutdated(context, session.userId))) return
      await store.endSession(session.id)
      throw outdated()
    },
    afterVerification: async (
      context: RequestContext | null,
      { id, identifier, value }: { readonly id: string; readonly identifier: string; readonly value: string },
    ) => {
      if (!identifier.startsWith(TRUST_PREFIX) || !(await isOutdated(context, value))) return
      await store.endVerification(id)
      throw outdated()
    },
    /** Records a change, which does not invalidate the proof of the request that makes it. */
    changed: async (context: RequestContext | null, user_id: string): Promise<void> => {
      const version = await store.end(user_id)
      const begun = context?.request === undefined ? undefined : requests.get(context.request)
      if (context?.request === undefined || begun?.version === undefined || version !== begun.version + 1) return
      requests.set(context.request, { user_id, version })
    },
  }
}

export type Proofs = ReturnType<typeof make>

const outdated = () => new APIError("UNAUTHORIZED", { code: "INVALID_TWO_FACTOR_COOKIE", message: "" })
