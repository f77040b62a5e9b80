import { useQueryErrorResetBoundary } from "@tanstack/react-query"
import { Link, useLocation, useRouter } from "@tanstack/react-router"
import { Compass, Hourglass, Lock, TriangleAlert } from "lucide-react"
import { type ReactNode, useEffect, useState } from "react"
import { ApiError } from "../api/ApiError.ts"
import { Button } from "../ui/controls/Button.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import { EmptyState } from "../ui/feedback/EmptyState.tsx"
import { ErrorDetails } from "../ui/feedback/ErrorDetails.tsx"
import { Logo } from "../ui/display/Logo.tsx"
import { useTitle } from "../ui/layout/useTitle.ts"

const HOME = (
  <Link to="/" className="text-sm font-medium link">
    Go to the overview
  </Link>
)

interface Props {
  readonly error: unknown
  readonly reset?: () => void
}

/** Replaces a screen that could not be loaded. */
export const ErrorScreen = ({ error, reset }: Props) => {
  const router = useRouter()
  // A query that failed is not sent again before it is reset.
  const queries = useQueryErrorResetBoundary()
  const retry = () => {
    queries.reset()
    reset?.()
    void router.invalidate()
  }
  const status = error instanceof ApiError ? error.status : 0
  if (status === 403) return <ForbiddenScreen />
  if (error instanceof ApiError && status === 404) return <NotFoundScreen text={error.message} />
  if (error instanceof ApiError && status === 429) return <BusyScreen error={error} onRetry={retry} />
  return (
    <Notice
      icon={<TriangleAlert size={20} />}
      title="This screen could not be loaded"
      action={<Retry onRetry={retry} />}
    >
      <UntrustedText text={error instanceof Error ? error.message : "Something went wrong. Try again."} />
      <ErrorDetails error={error} />
    </Notice>
  )
}

/** `ErrorScreen` for a page outside the shell, which needs a session: shows the name of the service above. */
export const BareErrorScreen = (props: Props) => (
  <Bare>
    <ErrorScreen {...props} />
  </Bare>
)

/** Lists by the paths of their records. */
const LISTS = [
  ["/emails", "Search emails"],
  ["/domains", "View domains"],
  ["/requests", "View requests"],
  ["/templates", "View templates"],
  ["/webhooks", "View webhooks"],
] as const

export const NotFoundScreen = ({ text }: { readonly text?: string }) => {
  const path = useLocation({ select: ({ pathname }) => pathname })
  const [to, name] = LISTS.find(([list]) => path.startsWith(`${list}/`)) ?? []
  const action = (
    <span className="flex flex-wrap justify-center gap-x-5 gap-y-2">
      {to === undefined ? undefined : (
        <Link to={to} className="text-sm font-medium link">
          {name}
        </Link>
      )}
      {HOME}
    </span>
  )
  return (
    <Notice icon={<Compass size={20} />} title={text === undefined ? "Page not found" : "Not found"} action={action}>
      {text ?? "Check the address."}
    </Notice>
  )
}

export const BareNotFoundScreen = () => (
  <Bare>
    <NotFoundScreen />
  </Bare>
)

export const ForbiddenScreen = () => (
  <Notice icon={<Lock size={20} />} title="You don’t have access" action={HOME}>
    Your role does not include this. An owner of the account can change your role in Settings, Members.
  </Notice>
)

const DEFAULT_WAIT_S = 10

/** Counts down to the moment at which requests are allowed again, then tries by itself. */
const BusyScreen = ({ error, onRetry }: { readonly error: ApiError; readonly onRetry: () => void }) => {
  const [seconds, setSeconds] = useState(Math.max(1, error.retryAfterSeconds ?? DEFAULT_WAIT_S))
  useEffect(() => {
    if (seconds <= 0) return onRetry()
    const timer = setTimeout(() => setSeconds(seconds - 1), 1_000)
    return () => clearTimeout(timer)
    // `onRetry` differs in each rendering and does the same.
  }, [seconds])
  return (
    <Notice icon={<Hourglass size={20} />} title="Too many requests" action={<Retry onRetry={onRetry} />}>
      {seconds > 0 ? `Trying again in ${seconds} s.` : "Trying again…"}
    </Notice>
  )
}

const Retry = ({ onRetry }: { readonly onRetry: () => void }) => <Button onClick={onRetry}>Try again</Button>

const Notice = ({
  title,
  ...rest
}: {
  readonly icon: ReactNode
  readonly title: string
  readonly action: ReactNode
  readonly children: ReactNode
}) => {
  useTitle(title)
  return (
    <div role="alert" className="mx-auto max-w-xl pt-[8vh]">
      <EmptyState title={title} level={1} {...rest} />
    </div>
  )
}

const Bare = ({ children }: { readonly children: ReactNode }) => (
  <main className="min-h-dvh px-4 pt-[10vh]">
    <p className="flex items-center justify-center gap-2.5 text-[15px] font-semibold tracking-tight">
      <Logo /> Waybill
    </p>
    {children}
  </main>
)
