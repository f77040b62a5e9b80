import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { Check, X } from "lucide-react"
import type { ReactNode } from "react"
import { instance } from "../api/instance.ts"
import * as Queries from "../api/Queries.ts"
import { CreateKey, KeyWithCode, SendTest } from "../firstEmail/FirstEmail.tsx"
import { shownStatus } from "@waybill/domain/search/shownStatus"
import { ReceiveCommand } from "../firstEmail/ReceiveCommand.tsx"
import * as SampleKey from "../firstEmail/SampleKey.ts"
import { IconButton } from "../ui/controls/Button.tsx"
import { StatusBadge } from "../ui/display/Badge.tsx"
import { cx } from "../ui/display/cx.ts"
import { useNow } from "../ui/display/Time.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import type { StepName, useFirstSteps } from "./useFirstSteps.ts"
import { Panel } from "../ui/layout/Screen.tsx"

const TEXTS: { readonly [S in StepName]: readonly [title: string, text: string] } = {
  key: ["Create an API key", "Your application sends with it. You get code that is ready to run."],
  send: ["Send a test email", "Run the code of your key, or send one to yourself from here."],
  arrive: [
    "See it arrive",
    instance.transport === "capture"
      ? "It appears here by itself. In the sandbox it is kept, not delivered."
      : "It appears here by itself, with every step of its delivery.",
  ],
  domain: ["Add your own domain", "Mail is sent from it once its DNS records are published."],
  webhook: [
    "Add a webhook",
    "Your application hears of deliveries, bounces and complaints. npx waybill listen brings them to your machine.",
  ],
  receive: [
    "Receive an email",
    "Your account has an address of its own. Run this command, and its mail appears here by itself.",
  ],
}

/** A start prints the first key of the installation, so that there may be one before anybody was here. */
const KEY_EXISTS = "You have one; its text was shown once."
const CREATE_ANOTHER = `${KEY_EXISTS} Create another to get code that is ready to run.`

/** The command to run is gone once mail has come. */
const HAS_RECEIVED = "Your account has an address of its own. Its mail appears under Received."

interface Props {
  readonly steps: NonNullable<ReturnType<typeof useFirstSteps>["steps"]>
  readonly onDismiss: () => void
}

/** Leads a new account to its first email. Each step ticks itself off. */
export const FirstSteps = ({ onDismiss, steps }: Props) => {
  const done = steps.filter(({ isDone }) => isDone).length
  const hasSent = steps.some(({ isDone, name }) => isDone && name === "send")
  const hasCode = SampleKey.useKey() !== undefined
  const next = steps.find(({ isDone }) => !isDone)?.name
  const doneTexts: { readonly [S in StepName]?: string } = {
    ...(hasCode ? {} : { key: hasSent ? KEY_EXISTS : CREATE_ANOTHER }),
    receive: HAS_RECEIVED,
  }
  return (
    <Panel
      title="Get started"
      actions={
        <span className="-mr-2 flex items-center gap-1">
          <span className="tabular text-xs text-ink-3">
            {done} of {steps.length} done
          </span>
          <IconButton label="Dismiss these steps" onClick={onDismiss}>
            <X size={15} />
          </IconButton>
        </span>
      }
    >
      <ol className="divide-y divide-line">
        {steps.map(({ isDone, name }, index) => (
          <li key={name} data-step={name} data-done={isDone} className="flex gap-3.5 px-4 py-4">
            <Tick isDone={isDone} number={index + 1} />
            <div className="flex min-w-0 grow flex-col gap-3">
              <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
                <div className="min-w-0 grow basis-60">
                  <h3 className={cx("text-sm font-medium", isDone && "text-ink-2")}>{TEXTS[name][0]}</h3>
                  <p className="text-sm text-ink-3">{(isDone ? doneTexts[name] : undefined) ?? TEXTS[name][1]}</p>
                </div>
                <Action name={name} isDone={isDone} isNext={name === next} hasSent={hasSent} />
              </div>
              <Details name={name} isDone={isDone} />
            </div>
          </li>
        ))}
      </ol>
    </Panel>
  )
}

const Details = ({ isDone, name }: Pick<ActionProps, "isDone" | "name">): ReactNode => {
  if (name === "key") return <KeyWithCode />
  if (name === "arrive") return <Arrivals />
  if (name !== "receive") return undefined
  return isDone ? <NewestReceived /> : <ReceiveCommand />
}

const Tick = ({ isDone, number }: { readonly isDone: boolean; readonly number: number }) => (
  <span
    className={cx(
      "tabular flex size-6 shrink-0 items-center justify-center rounded-full border text-xs font-medium",
      isDone ? "border-transparent bg-good-soft text-good" : "border-line-strong text-ink-3",
    )}
  >
    {isDone ? <Check size={14} aria-label="Done" /> : number}
  </span>
)

interface ActionProps {
  readonly name: StepName
  readonly isDone: boolean
  /** Whether it is the first step that is left, whose button stands out. */
  readonly isNext: boolean
  /** Whether an email was sent, after which nobody needs code for it. */
  readonly hasSent: boolean
}

const Action = ({ hasSent, isDone, isNext, name }: ActionProps): ReactNode => {
  const hasKey = SampleKey.useKey() !== undefined
  const variant = isNext ? "primary" : "secondary"
  if (name === "key") return hasKey || (isDone && hasSent) ? undefined : <CreateKey variant={variant} />
  if (name === "send") return <SendTest variant={variant} />
  if (isDone || name === "arrive" || name === "receive") return undefined
  return (
    <Link
      to={name === "domain" ? "/domains" : "/webhooks"}
      search={{ new: true }}
      className={cx(
        "inline-flex h-8 items-center rounded-lg border px-3 text-sm font-medium",
        isNext
          ? "border-transparent bg-solid text-solid-ink hover:bg-solid-hover"
          : "border-line-strong bg-raised hover:bg-hover",
      )}
    >
      {name === "domain" ? "Add domain" : "Create webhook"}
    </Link>
  )
}

const SHOWN = 3

/** The newest emails with their status, which changes while they are delivered. */
const Arrivals = () => {
  const { data } = useQuery(Queries.recentEmails)
  const now = useNow()
  const emails = data?.data.slice(0, SHOWN) ?? []
  if (emails.length === 0) return undefined
  return (
    <ul className="divide-y divide-line rounded-lg border border-line">
      {emails.map((email) => (
        <li key={email.id}>
          <Link
            to="/emails/$id"
            params={{ id: email.id }}
            className="flex items-center gap-3 px-3 py-2 text-sm hover:bg-hover focus-visible:-outline-offset-2"
          >
            <span className="min-w-0 grow truncate">
              {email.subject === "" ? "No subject" : <UntrustedText text={email.subject} />}
            </span>
            <StatusBadge status={shownStatus(email, now)} />
          </Link>
        </li>
      ))}
    </ul>
  )
}

/** The mail that has come, which leads to the record. */
const NewestReceived = () => {
  const { data } = useQuery(Queries.newestReceived)
  const mail = data?.data[0]
  if (mail === undefined) return undefined
  return (
    <Link
      to="/received"
      search={{ id: mail.id }}
      className="flex items-center gap-3 rounded-lg border border-line px-3 py-2 text-sm hover:bg-hover"
    >
      <span className="min-w-0 grow truncate">
        {mail.subject === null || mail.subject === "" ? "No subject" : <UntrustedText text={mail.subject} />}
      </span>
      <UntrustedText className="min-w-0 truncate text-xs text-ink-3" text={mail.envelope.from} />
    </Link>
  )
}
