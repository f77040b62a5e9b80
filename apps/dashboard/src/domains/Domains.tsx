import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { ChevronRight, Globe, Plus } from "lucide-react"
import { useState } from "react"
import { instance } from "../api/instance.ts"
import * as queries from "../api/Queries.ts"
import type { Domain } from "../api/Records.ts"
import { post, Refused } from "../api/Api.ts"
import { useMay } from "../shell/useSession.ts"
import { State } from "../ui/display/Badge.tsx"
import { Button } from "../ui/controls/Button.tsx"
import { Dialog, DialogForm } from "../ui/feedback/Dialog.tsx"
import { Empty } from "../ui/feedback/EmptyState.tsx"
import { ErrorNote } from "../ui/feedback/ErrorMessage.tsx"
import { TextField } from "../ui/controls/Field.tsx"
import { Panel, Screen, SkeletonRows } from "../ui/layout/Screen.tsx"
import { Time } from "../ui/display/Time.tsx"

export const Domains = () => {
  const search = useSearch({ from: "/shell/domains" })
  const navigate = useNavigate({ from: "/domains" })
  const may = useMay("domains:write")
  const query = useQuery(queries.domains)
  const add = (open: boolean) => void navigate({ search: open ? { new: true } : {}, replace: true })
  const button = may ? (
    <Button look="solid" icon={<Plus size={15} />} onClick={() => add(true)}>
      Add a domain
    </Button>
  ) : undefined
  return (
    <Screen title="Domains" hint="What you may send from, once its DNS says so." actions={button}>
      <Panel>
        {query.isPending ? (
          <SkeletonRows rows={4} />
        ) : query.isError ? (
          <div className="p-4">
            <ErrorNote error={query.error} onRetry={() => void query.refetch()} />
          </div>
        ) : query.data.data.length === 0 ? (
          <Empty
            icon={<Globe size={20} />}
            title="No domain yet"
            action={button}
            examples={[
              {
                name: "curl",
                code: `curl ${instance.url}/v1/domains \\\n  -H "Authorization: Bearer $WAYBILL_KEY" \\\n  -H "Content-Type: application/json" \\\n  -d '{"name":"mail.example.com"}'`,
              },
            ]}
          >
            Add the domain that your mail comes from. You get records to publish, and it is checked by itself until they
            are there.
          </Empty>
        ) : (
          <ul className="divide-y divide-line">
            {query.data.data.map((domain) => (
              <li key={domain.id}>
                <Link
                  to="/domains/$name"
                  params={{ name: domain.name }}
                  className="flex items-center gap-4 px-4 py-3 text-sm hover:bg-hover focus-visible:-outline-offset-2"
                >
                  <span className="min-w-0 grow truncate font-medium">{domain.name}</span>
                  <span className="hidden text-xs text-ink-3 sm:inline">
                    {domain.last_checked_at === null ? (
                      "never checked"
                    ) : (
                      <>
                        checked <Time iso={domain.last_checked_at} />
                      </>
                    )}
                  </span>
                  <State state={domain.status} />
                  <ChevronRight size={15} className="text-ink-3" aria-hidden />
                </Link>
              </li>
            ))}
          </ul>
        )}
      </Panel>
      <Dialog
        open={search.new === true}
        onOpenChange={add}
        title="Add a domain"
        description="A subdomain of its own, such as mail.example.com, keeps its reputation apart."
      >
        <Addition onCancel={() => add(false)} />
      </Dialog>
    </Screen>
  )
}

const Addition = ({ onCancel }: { readonly onCancel: () => void }) => {
  const client = useQueryClient()
  const navigate = useNavigate()
  const [name, setName] = useState("")
  const add = useMutation({
    mutationFn: () => post<Domain>("/domains", { name: name.trim() }),
    onSuccess: async (domain) => {
      client.setQueryData(queries.domain(domain.name).queryKey, domain)
      await client.invalidateQueries({ queryKey: ["domains"], exact: true })
      await navigate({ to: "/domains/$name", params: { name: domain.name } })
    },
  })
  const refused = add.error instanceof Refused ? add.error : undefined
  return (
    <DialogForm submit="Add" busy={add.isPending} error={add.error} onCancel={onCancel} onSubmit={() => add.mutate()}>
      <TextField
        label="Domain"
        autoFocus
        required
        autoCapitalize="none"
        spellCheck={false}
        placeholder="mail.example.com"
        hint={
          instance.transport === "capture" ? "While mail is kept here, a name under .test verifies at once." : undefined
        }
        value={name}
        onChange={(event) => setName(event.target.value)}
        problem={refused?.of("name")}
      />
    </DialogForm>
  )
}
