import { useMutation, useQueryClient } from "@tanstack/react-query"
import type * as Operate from "@waybill/api/Operate"
import { Plus } from "lucide-react"
import { useState } from "react"
import type { MemberLink } from "../api/Records.ts"
import { patch, post } from "../api/Api.ts"
import { Button } from "../ui/controls/Button.tsx"
import { CopyField } from "../ui/controls/CopyButton.tsx"
import { Dialog, DialogForm } from "../ui/feedback/Dialog.tsx"
import { SelectField, TextField } from "../ui/controls/Field.tsx"
import { Panel, Screen } from "../ui/layout/Screen.tsx"
import { exactly } from "../ui/display/Time.tsx"
import { complain, say } from "../ui/feedback/Toasts.tsx"
import { Loaded } from "./QueryResult.tsx"
import { accounts } from "./OperatorQueries.ts"
import { Table } from "./Table.tsx"
import { Foreign } from "../ui/display/UntrustedText.tsx"

type Plan = Operate.OperatedAccount["plan"]
type Account = Pick<Operate.OperatedAccount, "id" | "name" | "plan" | "links_stopped_at">

const PLANS: ReadonlyArray<readonly [plan: Plan, words: string]> = [
  ["free", "Free"],
  ["starter", "Starter"],
  ["growth", "Growth"],
  ["business", "Business"],
]
const number = new Intl.NumberFormat()

export const Accounts = () => {
  const client = useQueryClient()
  const [creating, setCreating] = useState(false)
  const [link, setLink] = useState<MemberLink>()
  const refresh = () => client.invalidateQueries({ queryKey: accounts.queryKey })
  const put = useMutation({
    mutationFn: ({ account, plan }: { readonly account: Account; readonly plan: Plan }) =>
      patch(`/operate/accounts/${account.id}`, { plan }),
    onSuccess: (_, { account, plan }) => {
      void refresh()
      say(`${account.name} is on ${plan} now.`, () => put.mutate({ account: { ...account, plan }, plan: account.plan }))
    },
    onError: complain,
  })
  const follow = useMutation({
    mutationFn: ({ account, followed }: { readonly account: Account; readonly followed: boolean }) =>
      patch(`/operate/accounts/${account.id}`, { links_followed: followed }),
    onSuccess: (_, { account, followed }) => {
      void refresh()
      say(`The links of ${account.name} ${followed ? "lead on" : "lead nowhere now"}.`, () =>
        follow.mutate({ account, followed: !followed }),
      )
    },
    onError: complain,
  })
  return (
    <Screen
      title="Accounts"
      hint="Who sends by this instance."
      actions={
        <Button look="solid" icon={<Plus size={15} />} onClick={() => setCreating(true)}>
          New account
        </Button>
      }
    >
      <Loaded options={accounts}>
        {({ data }) => (
          <Panel className="overflow-x-auto">
            <Table
              label="Accounts"
              rows={data}
              keyOf={({ id }) => id}
              columns={[
                {
                  name: "Account",
                  cell: ({ id, name }) => (
                    <>
                      <span className="block font-medium">
                        <Foreign text={name} />
                      </span>
                      <code className="block font-mono text-xs text-ink-3">{id}</code>
                    </>
                  ),
                },
                {
                  name: "Plan",
                  cell: (account) => (
                    <select
                      aria-label={`The plan of ${account.name}`}
                      value={account.plan}
                      onChange={(event) => put.mutate({ account, plan: event.target.value as Plan })}
                      className="h-8 rounded-lg border border-line-strong bg-raised px-2 text-sm"
                    >
                      {PLANS.map(([plan, words]) => (
                        <option key={plan} value={plan}>
                          {words}
                        </option>
                      ))}
                    </select>
                  ),
                },
                {
                  name: "This month",
                  number: true,
                  cell: ({ emails, monthly_emails }) =>
                    `${number.format(emails)}${monthly_emails === null ? "" : ` of ${number.format(monthly_emails)}`}`,
                },
                {
                  name: "Tracked links",
                  cell: (account) => (
                    <select
                      aria-label={`The tracked links of ${account.name}`}
                      value={account.links_stopped_at === null ? "followed" : "stopped"}
                      onChange={(event) => follow.mutate({ account, followed: event.target.value === "followed" })}
                      className="h-8 rounded-lg border border-line-strong bg-raised px-2 text-sm"
                    >
                      <option value="followed">Followed</option>
                      <option value="stopped">Stopped</option>
                    </select>
                  ),
                },
                { name: "Members", number: true, wide: true, cell: ({ members }) => members },
                { name: "Since", wide: true, cell: ({ created_at }) => exactly(created_at) },
              ]}
            />
          </Panel>
        )}
      </Loaded>
      <Dialog
        open={creating}
        onOpenChange={setCreating}
        onClosed={() => setLink(undefined)}
        sticky={link !== undefined}
        title={link === undefined ? "New account" : `A link for ${link.member.email}`}
        description={
          link === undefined
            ? "Its first owner gets a link with which they choose a password."
            : "It is shown this once. Whoever opens it sets the password of the account’s owner."
        }
      >
        {link === undefined ? (
          <NewAccount
            onCancel={() => setCreating(false)}
            onCreated={(made) => {
              setLink(made)
              void refresh()
            }}
          />
        ) : (
          <div className="flex flex-col gap-4 p-5">
            <CopyField text={link.url ?? ""} label="Copy the link" />
            <p className="text-xs text-ink-3">Good once, until {exactly(link.expires_at)}.</p>
            <footer className="flex justify-end">
              <Button look="solid" onClick={() => setCreating(false)}>
                Done
              </Button>
            </footer>
          </div>
        )}
      </Dialog>
    </Screen>
  )
}

const NewAccount = ({
  onCancel,
  onCreated,
}: {
  readonly onCancel: () => void
  readonly onCreated: (link: MemberLink) => void
}) => {
  const [name, setName] = useState("")
  const [owner, setOwner] = useState("")
  const [plan, setPlan] = useState<Plan>("free")
  const create = useMutation({
    mutationFn: () =>
      post<{ readonly link: MemberLink }>("/operate/accounts", { name: name.trim(), owner: owner.trim(), plan }),
    onSuccess: ({ link }) => onCreated(link),
  })
  return (
    <DialogForm
      submit="Create the account"
      busy={create.isPending}
      error={create.error}
      onCancel={onCancel}
      onSubmit={() => create.mutate()}
    >
      <TextField label="Name" autoFocus required value={name} onChange={(event) => setName(event.target.value)} />
      <TextField
        label="Address of the owner"
        type="email"
        required
        value={owner}
        onChange={(event) => setOwner(event.target.value)}
      />
      <SelectField label="Plan" value={plan} onChange={(event) => setPlan(event.target.value as Plan)}>
        {PLANS.map(([each, words]) => (
          <option key={each} value={each}>
            {words}
          </option>
        ))}
      </SelectField>
    </DialogForm>
  )
}
