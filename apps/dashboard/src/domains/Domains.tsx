import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { ChevronRight, Globe, Plus } from "lucide-react"
import { useState } from "react"
import { instance } from "../api/instance.ts"
import * as Queries from "../api/Queries.ts"
import type { Domain } from "../api/Records.ts"
import * as Api from "../api/Api.ts"
import { useFormErrors } from "../api/useFormErrors.ts"
import { useHasScope } from "../shell/useHasScope.ts"
import { StatusBadge } from "../ui/display/Badge.tsx"
import { Button } from "../ui/controls/Button.tsx"
import { Dialog } from "../ui/feedback/Dialog.tsx"
import { DialogForm } from "../ui/feedback/DialogForm.tsx"
import { EmptyState } from "../ui/feedback/EmptyState.tsx"
import { ErrorMessage } from "../ui/feedback/ErrorMessage.tsx"
import { TextField } from "../ui/controls/Field.tsx"
import { Panel } from "../ui/layout/Panel.tsx"
import { Screen } from "../ui/layout/Screen.tsx"
import { SkeletonRows } from "../ui/feedback/Skeleton.tsx"
import { RelativeTime } from "../ui/display/Time.tsx"

export const Domains = () => {
  const search = useSearch({ from: "/shell/domains" })
  const navigate = useNavigate({ from: "/domains" })
  const canEdit = useHasScope("domains:write")
  const query = useQuery(Queries.domains)
  const setDialogOpen = (open: boolean) => void navigate({ search: open ? { new: true } : {}, replace: true })
  const button = canEdit ? (
    <Button variant="primary" icon={<Plus size={15} />} onClick={() => setDialogOpen(true)}>
      Add domain
    </Button>
  ) : undefined
  return (
    <Screen title="Domains" hint="Domains you can send from once DNS is verified." actions={button}>
      <Panel>
        {query.isPending ? (
          <SkeletonRows rows={4} />
        ) : query.isError ? (
          <div className="p-4">
            <ErrorMessage error={query.error} onRetry={() => void query.refetch()} />
          </div>
        ) : query.data.data.length === 0 ? (
          <EmptyState icon={<Globe size={20} />} title="No domains yet" action={button}>
            Your sending domains appear here. Add one to get its DNS records; Waybill checks them until they are
            published.
          </EmptyState>
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
                      "Not checked"
                    ) : (
                      <>
                        Checked <RelativeTime iso={domain.last_checked_at} />
                      </>
                    )}
                  </span>
                  <StatusBadge status={domain.status} />
                  <ChevronRight size={15} className="text-ink-3" aria-hidden />
                </Link>
              </li>
            ))}
          </ul>
        )}
      </Panel>
      <Dialog
        open={search.new === true}
        onOpenChange={setDialogOpen}
        title="Add domain"
        description="Use a subdomain, such as mail.example.com, to keep its sending reputation separate."
      >
        <AddDomain onCancel={() => setDialogOpen(false)} />
      </Dialog>
    </Screen>
  )
}

const AddDomain = ({ onCancel }: { readonly onCancel: () => void }) => {
  const client = useQueryClient()
  const navigate = useNavigate()
  const [name, setName] = useState("")
  const add = useMutation({
    mutationFn: () => Api.post<Domain>("/domains", { name: name.trim() }),
    onSuccess: async (domain) => {
      client.setQueryData(Queries.domain(domain.name).queryKey, domain)
      await client.invalidateQueries({ queryKey: ["domains"], exact: true })
      await navigate({ to: "/domains/$name", params: { name: domain.name } })
    },
  })
  const errors = useFormErrors(add.error, { name })
  return (
    <DialogForm submit="Add" busy={add.isPending} error={errors.form} onCancel={onCancel} onSubmit={() => add.mutate()}>
      <TextField
        label="Domain"
        autoFocus
        required
        autoCapitalize="none"
        spellCheck={false}
        placeholder="mail.example.com"
        hint={instance.transport === "capture" ? "Sandbox: domains ending in .test are verified at once." : undefined}
        value={name}
        onChange={(event) => setName(event.target.value)}
        error={errors.field.name}
      />
    </DialogForm>
  )
}
