<?php

declare(strict_types=1);

namespace Waybill;

/**
 * Manages templates of messages. A name is an id or an alias.
 *
 * @phpstan-import-type ListedTemplate from Types
 * @phpstan-import-type ListedTemplateVersion from Types
 * @phpstan-import-type NewTemplateSource from Types
 * @phpstan-import-type RenderedTemplate from Types
 * @phpstan-import-type Template from Types
 * @phpstan-import-type TemplateArchived from Types
 * @phpstan-import-type TemplateChange from Types
 * @phpstan-import-type TemplateCreation from Types
 * @phpstan-import-type TemplateDuplication from Types
 * @phpstan-import-type TemplatePage from Types
 * @phpstan-import-type TemplatePublication from Types
 * @phpstan-import-type TemplatePush from Types
 * @phpstan-import-type TemplatePushAnswer from Types
 * @phpstan-import-type TemplateRendering from Types
 * @phpstan-import-type TemplateValidation from Types
 * @phpstan-import-type TemplateVersion from Types
 * @phpstan-import-type TemplateVersionPage from Types
 * @phpstan-import-type TemplatesQuery from Types
 */
final class Templates
{
    private const LARGEST_PAGE = 100;

    public function __construct(private readonly Sender $sender)
    {
    }

    /**
     * @param TemplatesQuery $query
     * @return TemplatePage
     */
    public function list(array $query = []): array
    {
        return $this->sender->call('GET /v1/templates', query: $query);
    }

    /**
     * Iterates over all matching templates, newest first.
     *
     * @param TemplatesQuery $query
     * @return \Generator<int, ListedTemplate, void, void>
     */
    public function all(array $query = []): \Generator
    {
        $query += ['limit' => self::LARGEST_PAGE];
        do {
            $page = $this->list($query);
            foreach ($page['data'] as $template) {
                yield $template;
            }
            $query['after'] = $page['next_cursor'];
        } while ($page['has_more'] && $page['next_cursor'] !== null);
    }

    /** @return Template */
    public function get(string $name): array
    {
        return $this->sender->call('GET /v1/templates/{template}', [$name]);
    }

    /**
     * @param TemplateCreation $template
     * @return Template
     */
    public function create(array $template, ?string $idempotencyKey = null): array
    {
        return $this->sender->call('POST /v1/templates', body: $template, idempotencyKey: $idempotencyKey);
    }

    /**
     * Changes the draft.
     *
     * @param TemplateChange $change
     * @return Template
     */
    public function update(string $name, array $change): array
    {
        return $this->sender->call('PATCH /v1/templates/{template}', [$name], body: $change);
    }

    /** @return TemplateArchived */
    public function archive(string $name): array
    {
        return $this->sender->call('DELETE /v1/templates/{template}', [$name]);
    }

    /**
     * Makes the draft the next version, which is sent from now on.
     *
     * @param TemplatePublication $publication
     * @return ListedTemplateVersion
     */
    public function publish(string $name, array $publication = [], ?string $idempotencyKey = null): array
    {
        return $this->sender->call('POST /v1/templates/{template}/publish', [$name], [], $publication, $idempotencyKey);
    }

    /** @return TemplateVersionPage */
    public function versions(string $name): array
    {
        return $this->sender->call('GET /v1/templates/{template}/versions', [$name]);
    }

    /** @return TemplateVersion */
    public function version(string $name, int $number): array
    {
        return $this->sender->call('GET /v1/templates/{template}/versions/{number}', [$name, (string) $number]);
    }

    /**
     * Sends a former version from now on.
     *
     * @return Template
     */
    public function rollback(string $name, int $version, ?string $idempotencyKey = null): array
    {
        $body = ['version' => $version];
        return $this->sender->call('POST /v1/templates/{template}/rollback', [$name], [], $body, $idempotencyKey);
    }

    /**
     * @param TemplateDuplication $duplication
     * @return Template
     */
    public function duplicate(string $name, array $duplication = [], ?string $idempotencyKey = null): array
    {
        return $this->sender->call('POST /v1/templates/{template}/duplicate', [$name], [], $duplication, $idempotencyKey);
    }

    /**
     * Returns what would be sent.
     *
     * @param TemplateRendering $rendering
     * @return RenderedTemplate
     */
    public function render(string $name, array $rendering = []): array
    {
        return $this->sender->call('POST /v1/templates/{template}/render', [$name], body: $rendering);
    }

    /**
     * Creates, changes and publishes templates by their aliases: all of them, or none.
     *
     * @param TemplatePush $push
     * @return TemplatePushAnswer
     */
    public function push(array $push, ?string $idempotencyKey = null): array
    {
        return $this->sender->call('POST /v1/templates/push', body: $push, idempotencyKey: $idempotencyKey);
    }

    /**
     * Returns what is wrong with a source, and the variables that it uses.
     *
     * @param NewTemplateSource $source
     * @return TemplateValidation
     */
    public function validate(array $source): array
    {
        return $this->sender->call('POST /v1/templates/validate', body: $source);
    }
}
