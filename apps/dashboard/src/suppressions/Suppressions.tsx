import { type QueryKey, useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { Ban, Download, Upload } from "lucide-react"
import { useMemo, useState } from "react"
import * as Queries from "../api/Queries.ts"
import type { Suppression } from "../api/Records.ts"
import { useHasScope } from "../session/useHasScope.ts"
import { Badge } from "../ui/display/Badge.tsx"
import { Button } from "../ui/controls/Button.tsx"
import { DateFilter } from "../ui/controls/DateFilter.tsx"
import { ChoiceFilter } from "../ui/controls/FilterSelect.tsx"
import { MoreMenu } from "../ui/controls/Menu.tsx"
import { Dialog } from "../ui/feedback/Dialog.tsx"
import { defined } from "../api/defined.ts"
import { RelativeTime } from "../ui/display/Time.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import { AddSuppression } from "./AddSuppression.tsx"
import { ExportSuppressions } from "./ExportSuppressions.tsx"
import { ImportSuppressions } from "./ImportSuppressions.tsx"
import * as SuppressionReason from "../ui/display/SuppressionReason.ts"
import { ListScreen } from "../ui/layout/ListScreen.tsx"
import type { Column } from "../ui/layout/Table.tsx"
import { useListSearch } from "../ui/layout/useListSearch.ts"
import * as OptimisticUpdate from "../ui/feedback/OptimisticUpdate.ts"
import * as Api from "../api/Api.ts"
import { showError, showToast } from "../ui/feedback/Toasts.tsx"

const REASON_CHOICES = Object.entries(SuppressionReason.NAMES).map(([value, name]) => ({ value, name }))

const SOURCE_CHOICES = [
  { value: "email", name: "An email" },
  { value: "request", name: "Added by hand or API" },
]
const DIALOGS = { add: "Add suppression", import: "Import suppressions", export: "Export suppressions" }

export const Suppressions = () => {
  const list = useListSearch<"reason" | "since" | "source">()
  const canEdit = useHasScope("suppressions:write")
  const [opened, setOpened] = useState<keyof typeof DIALOGS>()
  const dialog = list.isCreating && canEdit ? "add" : opened
  const { q, reason, since, source } = list.search
  const filters = defined({ q, reason, source, created_after: since }) as Queries.SuppressionFilters
  const options = Queries.suppressions(filters)
  const query = useInfiniteQuery(options)
  const removal = useRemoveSuppression(options.queryKey)
  const close = () => {
    setOpened(undefined)
    if (list.isCreating) list.setCreating(false)
  }
  return (
    <ListScreen
      title="Suppressions"
      hint="Addresses that receive no email: they bounced, complained, unsubscribed or were added here."
      create={canEdit && DIALOGS.add}
      actions={
        <MoreMenu
          isFramed
          label="More actions"
          items={[
            {
              name: "Export CSV",
              icon: <Download size={15} />,
              disabled: list.typed.isPending || query.data === undefined,
              onSelect: () => setOpened("export"),
            },
            canEdit && { name: "Import CSV", icon: <Upload size={15} />, onSelect: () => setOpened("import") },
          ]}
        />
      }
      list={list}
      search={["Search suppressions", "Part of an address"]}
      filters={
        <>
          <ChoiceFilter label="Reason" choices={REASON_CHOICES} {...list.filter("reason")} />
          <ChoiceFilter label="Source" choices={SOURCE_CHOICES} {...list.filter("source")} />
          <DateFilter label="Added since" {...list.filter("since")} />
        </>
      }
      query={query}
      columns={columnsOf(useAddedBy(), canEdit ? (each) => removal.mutate(each) : undefined)}
      noun="suppressions"
      noMatches="Email to other addresses is sent as usual."
      empty={{
        icon: <Ban size={20} />,
        title: "No suppressions yet",
        children:
          "Addresses are added automatically after a hard bounce, a complaint or an unsubscribe. Add one to stop sending to it.",
      }}
    >
      <Dialog open={dialog !== undefined} onClose={close} title={dialog === undefined ? "" : DIALOGS[dialog]}>
        {dialog === "add" ? (
          <AddSuppression address={list.isCreating ? q : undefined} onDone={close} />
        ) : dialog === "import" ? (
          <ImportSuppressions onDone={close} />
        ) : dialog === "export" ? (
          <ExportSuppressions filters={filters} onDone={close} />
        ) : undefined}
      </Dialog>
    </ListScreen>
  )
}

interface CauseProps {
  readonly suppression: Suppression
  readonly addedBy: ReadonlyMap<string, string>
}

/** The email that caused a suppression, or who added it. */
const Cause = ({ addedBy, suppression: { email, email_id } }: CauseProps) =>
  email_id === null ? (
    <UntrustedText className="block max-w-52 truncate text-xs text-ink-2" text={addedBy.get(email) ?? "–"} />
  ) : (
    <Link to="/emails/$id" params={{ id: email_id }} className="text-xs whitespace-nowrap link">
      View email
    </Link>
  )

/** Returns the columns; without `onRemove` the user may not change suppressions. */
const columnsOf = (
  addedBy: ReadonlyMap<string, string>,
  onRemove: ((suppression: Suppression) => void) | undefined,
): ReadonlyArray<Column<Suppression>> => [
  {
    name: "Address",
    main: true,
    cell: (suppression) => (
      <>
        <UntrustedText className="block truncate font-medium" text={suppression.email} />
        {/* On a phone there are no columns for these. */}
        <span className="flex flex-wrap gap-x-2 text-xs text-ink-3 sm:hidden">
          <span>{SuppressionReason.NAMES[suppression.reason]}</span>
          <span>
            Added <RelativeTime iso={suppression.created_at} />
          </span>
          <Cause suppression={suppression} addedBy={addedBy} />
        </span>
      </>
    ),
  },
  {
    name: "Reason",
    wide: true,
    cell: ({ reason }) => (
      <Badge tone={reason === "complaint" || reason === "hard_bounce" ? "bad" : "neutral"}>
        {SuppressionReason.NAMES[reason]}
      </Badge>
    ),
  },
  {
    name: "Caused by",
    wide: true,
    cell: (suppression) => <Cause suppression={suppression} addedBy={addedBy} />,
  },
  {
    name: "Added",
    number: true,
    wide: true,
    small: true,
    cell: ({ created_at }) => <RelativeTime iso={created_at} />,
  },
  ...(onRemove === undefined
    ? []
    : [
        {
          name: "Actions",
          hiddenName: true,
          number: true,
          cell: (suppression: Suppression) => (
            <Button
              small
              variant="ghost"
              className="-mr-2.5"
              aria-label={`Remove ${suppression.email}`}
              onClick={() => onRemove(suppression)}
            >
              Remove
            </Button>
          ),
        },
      ]),
]

/** Returns who added an address, by its text: the names of the newest changes by keys and members. */
const useAddedBy = (): ReadonlyMap<string, string> => {
  const { data } = useInfiniteQuery({ ...Queries.audit({ stream: "suppression" }), enabled: useHasScope("admin") })
  return useMemo(
    () =>
      new Map(
        // The newest change of an address comes first, and is to stay.
        (data?.pages ?? [])
          .flatMap((page) => page.data)
          .toReversed()
          .flatMap(({ actor, actor_name, target_name, type }) =>
            type === "suppression.added" && target_name !== null
              ? [[target_name, actor_name ?? (actor.type === "operator" ? "Operator" : "–")] as const]
              : [],
          ),
      ),
    [data],
  )
}

/** Removes a suppression, with Undo. Used by the list, because a row unmounts as soon as it is removed. */
const useRemoveSuppression = (listKey: QueryKey) => {
  const client = useQueryClient()
  const refresh = () => client.invalidateQueries({ queryKey: Queries.SUPPRESSIONS })
  const restore = useMutation({
    mutationFn: ({ email, reason }: Suppression) => Api.post("/suppressions", { email, reason }),
    onSuccess: refresh,
    onError: showError,
  })
  return useMutation({
    mutationFn: ({ email }: Suppression) => Api.remove(`/suppressions/${encodeURIComponent(email)}`),
    onMutate: ({ id }) => OptimisticUpdate.apply(client, listKey, OptimisticUpdate.withoutRow<Suppression>(id)),
    onSuccess: (_, suppression) => {
      void refresh()
      showToast(`Suppression of ${suppression.email} removed.`, () => restore.mutate(suppression))
    },
    onError: OptimisticUpdate.rollBack,
  })
}
