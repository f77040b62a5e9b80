import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { Ban, Plus, Search } from "lucide-react"
import { useDeferredValue, useState } from "react"
import { ahead, takeBack, without } from "../api/OptimisticUpdate.ts"
import * as queries from "../api/Queries.ts"
import type { Suppression } from "../api/Records.ts"
import { get, post, Refused, remove } from "../api/Api.ts"
import { useMay } from "../shell/useSession.ts"
import { Badge } from "../ui/display/Badge.tsx"
import { Button } from "../ui/controls/Button.tsx"
import { Dialog, DialogForm } from "../ui/feedback/Dialog.tsx"
import { Empty } from "../ui/feedback/EmptyState.tsx"
import { ErrorNote } from "../ui/feedback/ErrorMessage.tsx"
import { TextField } from "../ui/controls/Field.tsx"
import { Panel, Screen, SkeletonRows } from "../ui/layout/Screen.tsx"
import { Time } from "../ui/display/Time.tsx"
import { complain, say } from "../ui/feedback/Toasts.tsx"
import { Foreign } from "../ui/display/UntrustedText.tsx"

const REASONS: { readonly [R in Suppression["reason"]]: string } = {
  hard_bounce: "Bounced for good",
  complaint: "Complained",
  manual: "By hand",
  unsubscribe: "Unsubscribed",
}

const useRefresh = () => {
  const client = useQueryClient()
  return () => client.invalidateQueries({ queryKey: ["suppressions"] })
}

export const Suppressions = () => {
  const may = useMay("admin")
  const lift = useLift()
  const [adding, setAdding] = useState(false)
  const [text, setText] = useState("")
  const word = useDeferredValue(text.trim())
  const query = useInfiniteQuery(queries.suppressions)
  const looked = useQuery({
    queryKey: ["suppressions", word],
    enabled: /^[^@\s]+@[^@\s]+\.[^@\s]+$/u.test(word),
    queryFn: ({ signal }) =>
      get<Suppression>(`/suppressions/${encodeURIComponent(word)}`, {}, signal).catch((error: unknown) => {
        if (error instanceof Refused && error.status === 404) return null
        throw error
      }),
  })
  const rows = query.data?.pages.flatMap(({ data }) => data) ?? []
  const shown = looked.data === undefined ? rows : looked.data === null ? [] : [looked.data]
  return (
    <Screen
      title="Suppressions"
      hint="Addresses that get no more mail: they bounced for good, complained, or asked."
      actions={
        may ? (
          <Button look="solid" icon={<Plus size={15} />} onClick={() => setAdding(true)}>
            Suppress an address
          </Button>
        ) : undefined
      }
    >
      <label className="relative w-full sm:max-w-sm">
        <span className="sr-only">Look up an address</span>
        <Search
          size={14}
          className="pointer-events-none absolute top-1/2 left-2.5 -translate-y-1/2 text-ink-3"
          aria-hidden
        />
        <input
          data-search
          type="search"
          value={text}
          onChange={(event) => setText(event.target.value)}
          placeholder="Look up a whole address"
          className="h-8 w-full rounded-lg border border-line-strong bg-raised pr-2 pl-8 text-sm placeholder:text-ink-3"
        />
      </label>
      <Panel>
        {query.isPending ? (
          <SkeletonRows />
        ) : query.isError ? (
          <div className="p-4">
            <ErrorNote error={query.error} onRetry={() => void query.refetch()} />
          </div>
        ) : shown.length === 0 ? (
          <Empty
            icon={<Ban size={20} />}
            title={looked.data === null ? "This address is not suppressed" : "Nobody is suppressed"}
          >
            A hard bounce or a complaint puts an address here by itself, and mail to it gets the state “suppressed”
            instead of being sent.
          </Empty>
        ) : (
          <ul className="divide-y divide-line">
            {shown.map((each) => (
              <One key={each.id} suppression={each} onLift={may ? () => lift.mutate(each) : undefined} />
            ))}
          </ul>
        )}
      </Panel>
      {query.hasNextPage && looked.data === undefined ? (
        <div className="flex justify-center">
          <Button busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            Older
          </Button>
        </div>
      ) : undefined}
      <Dialog open={adding} onOpenChange={setAdding} title="Suppress an address">
        <Addition onDone={() => setAdding(false)} />
      </Dialog>
    </Screen>
  )
}

/** Lives with the list and not with a row: the row is gone as soon as it is lifted. */
const useLift = () => {
  const client = useQueryClient()
  const refresh = useRefresh()
  const again = useMutation({
    mutationFn: ({ email, reason }: Suppression) => post("/suppressions", { email, reason }),
    onSuccess: refresh,
    onError: complain,
  })
  return useMutation({
    mutationFn: ({ email }: Suppression) => remove(`/suppressions/${encodeURIComponent(email)}`),
    onMutate: ({ id }) => ahead(client, queries.suppressions.queryKey, without<Suppression>(id)),
    onSuccess: (_, suppression) => {
      void refresh()
      say(`${suppression.email} gets mail again.`, () => again.mutate(suppression))
    },
    onError: takeBack,
  })
}

interface OneProps {
  readonly suppression: Suppression
  /** Unless the reader may not. */
  readonly onLift: (() => void) | undefined
}

const One = ({ onLift, suppression }: OneProps) => {
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-2.5 text-sm">
      <span className="min-w-0 grow truncate">
        <Foreign text={suppression.email} />
      </span>
      {suppression.email_id === null ? undefined : (
        <Link to="/emails/$id" params={{ id: suppression.email_id }} className="text-xs text-accent hover:underline">
          the message
        </Link>
      )}
      <Badge tone={suppression.reason === "complaint" || suppression.reason === "hard_bounce" ? "bad" : "calm"}>
        {REASONS[suppression.reason]}
      </Badge>
      <span className="tabular w-24 text-right text-xs text-ink-3">
        <Time iso={suppression.created_at} />
      </span>
      {onLift === undefined ? undefined : (
        <Button small onClick={onLift}>
          Lift
        </Button>
      )}
    </li>
  )
}

const Addition = ({ onDone }: { readonly onDone: () => void }) => {
  const refresh = useRefresh()
  const [email, setEmail] = useState("")
  const add = useMutation({
    mutationFn: () => post<Suppression>("/suppressions", { email: email.trim() }),
    onSuccess: ({ email: added }) => {
      void refresh()
      say(`${added} gets no more mail.`)
      onDone()
    },
  })
  const refused = add.error instanceof Refused ? add.error : undefined
  return (
    <DialogForm
      submit="Suppress"
      busy={add.isPending}
      error={add.error}
      onCancel={onDone}
      onSubmit={() => add.mutate()}
    >
      <TextField
        label="Address"
        type="email"
        autoFocus
        required
        value={email}
        onChange={(event) => setEmail(event.target.value)}
        problem={refused?.of("email")}
      />
    </DialogForm>
  )
}
