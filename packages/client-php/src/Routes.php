<?php

declare(strict_types=1);

namespace Waybill;

/**
 * Manages the rules for what happens to received mail.
 *
 * @phpstan-import-type InboundRoute from Types
 * @phpstan-import-type InboundRouteChange from Types
 * @phpstan-import-type InboundRouteCreation from Types
 * @phpstan-import-type InboundRouteDeleted from Types
 * @phpstan-import-type InboundRoutePage from Types
 * @phpstan-import-type InboundRouteTest from Types
 * @phpstan-import-type InboundRouteTrial from Types
 */
final class Routes
{
    public function __construct(private readonly Sender $sender)
    {
    }

    /**
     * Returns all routes, in the order in which they are tried.
     *
     * @return InboundRoutePage
     */
    public function list(): array
    {
        return $this->sender->call('GET /v1/inbound/routes');
    }

    /** @return InboundRoute */
    public function get(string $id): array
    {
        return $this->sender->call('GET /v1/inbound/routes/{id}', [$id]);
    }

    /**
     * @param InboundRouteCreation $route
     * @return InboundRoute
     */
    public function create(array $route, ?string $idempotencyKey = null): array
    {
        return $this->sender->call('POST /v1/inbound/routes', body: $route, idempotencyKey: $idempotencyKey);
    }

    /**
     * @param InboundRouteChange $change
     * @return InboundRoute
     */
    public function update(string $id, array $change): array
    {
        return $this->sender->call('PATCH /v1/inbound/routes/{id}', [$id], body: $change);
    }

    /** @return InboundRouteDeleted */
    public function remove(string $id): array
    {
        return $this->sender->call('DELETE /v1/inbound/routes/{id}', [$id]);
    }

    /**
     * Says which routes would apply to a mail, and why.
     *
     * @param InboundRouteTrial $mail
     * @return InboundRouteTest
     */
    public function test(array $mail): array
    {
        return $this->sender->call('POST /v1/inbound/routes/test', body: $mail);
    }
}
