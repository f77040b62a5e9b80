import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useEffect, useState } from "react"
import { instance } from "../api/instance.ts"
import * as Mode from "../api/Mode.ts"
import * as Queries from "../api/Queries.ts"
import { useEventStream } from "../live/useEventStream.ts"
import { useHasScope } from "../session/useHasScope.ts"
import { useSession } from "../session/useSession.ts"
import * as Stored from "../api/Stored.ts"

export type StepName = "key" | "send" | "arrive" | "domain" | "webhook" | "receive"

interface Step {
  readonly name: StepName
  readonly isDone: boolean
}

interface FirstSteps {
  /** Steps that the user's role allows; `undefined` while they load, and when there is nothing to show. */
  readonly steps: ReadonlyArray<Step> | undefined
  readonly dismiss: () => void
}

/** Name that the installation gives to a domain that nobody owns. */
const FIRST_DOMAIN = "acme.test"
const POLL_MS = 1_500
const RECEIVED_TYPES = ["email.received"] as const

const storageKey = (account: string) => `waybill.first-steps.${account}`

/** Steps of a new account. Each is done when the data shows it, so nothing about them is stored. */
export const useFirstSteps = (): FirstSteps => {
  const isAdmin = useHasScope("admin")
  const canSend = useHasScope("email:send")
  const canAddDomains = useHasScope("domains:write")
  const canAddWebhooks = useHasScope("webhooks:manage")
  const canSeeReceived = useHasScope("inbound:read")
  const canStream = useHasScope("events:read")
  const canReceive = instance.mail !== null && canSeeReceived && canStream
  const id = useSession().session.account_id
  const [isGone, setGone] = useState(Stored.read(storageKey(id)) !== null)
  const keys = useQuery({ ...Queries.apiKeys, enabled: isAdmin && !isGone })
  const domains = useQuery({ ...Queries.domains, enabled: canAddDomains && !isGone })
  const webhooks = useQuery({ ...Queries.webhooks, enabled: canAddWebhooks && !isGone })
  const received = useQuery({ ...Queries.newestReceived, enabled: canReceive && !isGone })
  const hasReceived = (received.data?.data ?? []).length > 0
  useNewMail(canReceive && !isGone && !hasReceived)
  const recent = useQuery({
    ...Queries.recentEmails,
    // The last step before this one is watched while it happens.
    refetchInterval: ({ state }) =>
      state.data?.data.length !== 0 && state.data?.data.every(({ status }) => status === "queued") ? POLL_MS : false,
  })
  const dismiss = () => {
    setGone(true)
    Stored.write(storageKey(id), "dismissed")
  }
  const waiting = [recent, keys, domains, webhooks, received].some(({ isLoading }) => isLoading)
  const emails = recent.data?.data ?? []
  const all: ReadonlyArray<Step & { readonly isAllowed: boolean }> = [
    { name: "key", isAllowed: isAdmin, isDone: (keys.data?.data ?? []).length > 0 },
    { name: "send", isAllowed: canSend, isDone: emails.length > 0 },
    { name: "arrive", isAllowed: canSend, isDone: emails.some(({ status }) => status !== "queued") },
    {
      name: "domain",
      isAllowed: canAddDomains,
      isDone: (domains.data?.data ?? []).some(({ name }) => name !== FIRST_DOMAIN),
    },
    { name: "webhook", isAllowed: canAddWebhooks, isDone: (webhooks.data?.data ?? []).length > 0 },
    { name: "receive", isAllowed: canReceive, isDone: hasReceived },
  ]
  const steps = all.filter(({ isAllowed }) => isAllowed)
  // Many only send: the list ends without a mail that came.
  const isEnded = steps.every(({ isDone, name }) => isDone || name === "receive")
  // The steps lead to live mail.
  const isShown = !Mode.isTest() && !waiting && !isGone && !isEnded
  // Once all is done nothing has to be read for them any more, also when the page is opened again.
  const isComplete =
    !Mode.isTest() &&
    !waiting &&
    !isGone &&
    [recent, keys, domains, webhooks, received].every(({ isError }) => !isError) &&
    isEnded
  useEffect(() => {
    if (isComplete) dismiss()
  })
  return { steps: isShown ? steps : undefined, dismiss }
}

/** Reads received mail again when some came. */
const useNewMail = (enabled: boolean) => {
  const client = useQueryClient()
  const read = () => void client.invalidateQueries({ queryKey: Queries.newestReceived.queryKey })
  useEventStream({ types: RECEIVED_TYPES, enabled, onStart: read, onEvent: read })
}
