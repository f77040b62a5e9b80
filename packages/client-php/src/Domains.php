<?php

declare(strict_types=1);

namespace Waybill;

/**
 * Manages the domains that mail is sent from.
 *
 * @phpstan-import-type Domain from Types
 * @phpstan-import-type DomainChange from Types
 * @phpstan-import-type DomainDeleted from Types
 * @phpstan-import-type DomainPage from Types
 */
final class Domains
{
    public function __construct(private readonly Sender $sender)
    {
    }

    /** @return DomainPage */
    public function list(): array
    {
        return $this->sender->call('GET /v1/domains');
    }

    /** @return Domain */
    public function get(string $domain): array
    {
        return $this->sender->call('GET /v1/domains/{domain}', [$domain]);
    }

    /** @return Domain */
    public function add(string $name, ?string $idempotencyKey = null): array
    {
        return $this->sender->call('POST /v1/domains', body: ['name' => $name], idempotencyKey: $idempotencyKey);
    }

    /** @return Domain */
    public function verify(string $domain): array
    {
        return $this->sender->call('POST /v1/domains/{domain}/verify', [$domain]);
    }

    /** @return Domain */
    public function rotateDkim(string $domain, ?string $idempotencyKey = null): array
    {
        return $this->sender->call(
            'POST /v1/domains/{domain}/dkim/rotate',
            [$domain],
            idempotencyKey: $idempotencyKey,
        );
    }

    /**
     * Turns open and click tracking on or off, or sets the tracking domain.
     *
     * @param DomainChange $change
     * @return Domain
     */
    public function update(string $domain, array $change): array
    {
        return $this->sender->call('PATCH /v1/domains/{domain}', [$domain], body: $change);
    }

    /** @return DomainDeleted */
    public function remove(string $domain): array
    {
        return $this->sender->call('DELETE /v1/domains/{domain}', [$domain]);
    }
}
