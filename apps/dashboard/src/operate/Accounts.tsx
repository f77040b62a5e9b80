import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import type * as Operate from "@waybill/api/groups/Operate"
import { Plus } from "lucide-react"
import { useState } from "react"
import type { MemberLink } from "../api/Records.ts"
import * as Api from "../api/Api.ts"
import { Button } from "../ui/controls/Button.tsx"
import { Dialog, DialogForm } from "../ui/feedback/Dialog.tsx"
import { CellSelect, SelectField, TextField, useForm } from "../ui/controls/Field.tsx"
import { Panel, Screen } from "../ui/layout/Screen.tsx"
import { formatDateTime } from "../ui/display/Time.tsx"
import { showError, showToast } from "../ui/feedback/Toasts.tsx"
import { QueryResult } from "../ui/layout/QueryResult.tsx"
import * as OperatorQueries from "./OperatorQueries.ts"
import { Table } from "../ui/layout/Table.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import { LinkOnce } from "../settings/LinkOnce.tsx"

type Plan = Operate.AccountSummary["plan"]
type Account = Pick<Operate.AccountSummary, "id" | "name" | "plan" | "links_stopped_at">

interface Change {
  readonly account: Account
  readonly plan?: Plan
  readonly links_followed?: boolean
}

const PLANS: ReadonlyArray<readonly [plan: Plan, label: string]> = [
  ["free", "Free"],
  ["starter", "Starter"],
  ["growth", "Growth"],
  ["business", "Business"],
]
const LINKS = [
  ["enabled", "Enabled"],
  ["disabled", "Disabled"],
] as const
const number = new Intl.NumberFormat()

/** The cell of every instance. While there is no other one, the column is left out. */
const FIRST_CELL = "public"
const CELL = {
  name: "Cell",
  wide: true,
  cell: ({ cell }: Operate.AccountSummary) => <code className="font-mono text-xs">{cell}</code>,
}

export const Accounts = () => {
  const client = useQueryClient()
  const [creating, setCreating] = useState(false)
  const [link, setLink] = useState<MemberLink>()
  const refresh = () => client.invalidateQueries({ queryKey: OperatorQueries.accounts.queryKey })
  const change = useMutation({
    mutationFn: ({ account, ...body }: Change) => Api.patch(`/operate/accounts/${account.id}`, body),
    onSuccess: (_, { account, links_followed, plan }) => {
      void refresh()
      if (plan !== undefined)
        showToast(`${account.name} is now on the ${plan} plan.`, () =>
          change.mutate({ account: { ...account, plan }, plan: account.plan }),
        )
      else
        showToast(`Tracked links of ${account.name} ${links_followed ? "enabled" : "disabled"}.`, () =>
          change.mutate({ account, links_followed: !links_followed }),
        )
    },
    onError: showError,
  })
  return (
    <Screen
      title="Accounts"
      hint="Accounts that send through this instance."
      actions={
        <Button variant="primary" icon={<Plus size={15} />} onClick={() => setCreating(true)}>
          Create account
        </Button>
      }
    >
      <QueryResult query={useQuery(OperatorQueries.accounts)}>
        {({ data, unreachable }) => (
          <Panel isScrollable>
            <UnreachableCells names={unreachable} />
            <Table
              label="Accounts"
              rows={data}
              keyOf={({ id }) => id}
              columns={[
                {
                  name: "Account",
                  main: true,
                  cell: ({ emails, id, name }) => (
                    <>
                      <UntrustedText className="block truncate font-medium" text={name} />
                      <code className="hidden truncate font-mono text-xs text-ink-3 sm:block">{id}</code>
                      <span className="block text-xs text-ink-3 sm:hidden">{number.format(emails)} this month</span>
                    </>
                  ),
                },
                {
                  name: "Plan",
                  cell: (account) => (
                    <CellSelect
                      label={`Plan of ${account.name}`}
                      value={account.plan}
                      onChange={(event) => change.mutate({ account, plan: event.target.value as Plan })}
                      options={PLANS}
                    />
                  ),
                },
                {
                  name: "This month",
                  number: true,
                  wide: true,
                  cell: ({ emails, monthly_emails }) =>
                    `${number.format(emails)}${monthly_emails === null ? "" : ` of ${number.format(monthly_emails)}`}`,
                },
                {
                  name: "Tracked links",
                  cell: (account) => (
                    <CellSelect
                      label={`Tracked links of ${account.name}`}
                      value={account.links_stopped_at === null ? "enabled" : "disabled"}
                      onChange={(event) => change.mutate({ account, links_followed: event.target.value === "enabled" })}
                      options={LINKS}
                    />
                  ),
                },
                { name: "Members", number: true, wide: true, cell: ({ members }) => members },
                ...(data.some(({ cell }) => cell !== FIRST_CELL) ? [CELL] : []),
                { name: "Created", wide: true, oneLine: true, cell: ({ created_at }) => formatDateTime(created_at) },
              ]}
            />
          </Panel>
        )}
      </QueryResult>
      <Dialog
        open={creating}
        onClose={() => setCreating(false)}
        onClosed={() => setLink(undefined)}
        requiresClose={link !== undefined}
        title={link === undefined ? "Create account" : `Invitation link for ${link.member.email}`}
        description={
          link === undefined
            ? "You get an invitation link for the first owner."
            : "Share it over a secure channel: anyone with the link can set the owner’s password. It is shown only once."
        }
      >
        {link === undefined ? (
          <NewAccount
            onCancel={() => setCreating(false)}
            onCreated={(created) => {
              setLink(created)
              void refresh()
            }}
          />
        ) : (
          <LinkOnce link={link} onDone={() => setCreating(false)} />
        )}
      </Dialog>
    </Screen>
  )
}

interface NewProps {
  readonly onCancel: () => void
  readonly onCreated: (link: MemberLink) => void
}

const NewAccount = ({ onCancel, onCreated }: NewProps) => {
  const form = useForm({
    initial: { name: "", owner: "", plan: "free" as Plan },
    send: ({ name, owner, plan }) =>
      Api.post<{ readonly link: MemberLink }>("/operate/accounts", { name: name.trim(), owner: owner.trim(), plan }),
    onSent: ({ link }) => onCreated(link),
  })
  return (
    <DialogForm submit="Create account" form={form} onCancel={onCancel}>
      <TextField label="Name" autoFocus required {...form.input("name")} />
      <TextField label="Email of the owner" type="email" required {...form.input("owner")} />
      <SelectField label="Plan" options={PLANS} {...form.input("plan")} />
    </DialogForm>
  )
}

/** Says which cells did not answer, so that nobody takes a list for complete. */
const UnreachableCells = ({ names }: { readonly names: ReadonlyArray<string> }) =>
  names.length === 0 ? undefined : (
    <p role="status" className="bg-warn-soft px-4 py-2 text-sm text-warn">
      {names.length === 1
        ? `The cell ${names[0]} does not answer. Its accounts are missing here.`
        : `The cells ${names.join(", ")} do not answer. Their accounts are missing here.`}
    </p>
  )
