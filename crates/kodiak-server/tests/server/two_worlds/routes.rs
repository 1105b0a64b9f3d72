//! The requests to the worlds over HTTP.

use serde_json::{Value, json};

/// Returns the routes with their bodies.
pub(super) fn asked() -> Vec<(&'static str, Value)> {
    let search = |query: &str| json!({"query": query, "explain": true, "limit": 40});
    vec![
        ("GET /api/status", Value::Null),
        ("GET /api/timeline", Value::Null),
        ("GET /api/timeline?source=secrets", Value::Null),
        ("GET /api/documents/0.md", Value::Null),
        ("GET /api/documents/0-hidden.md", Value::Null),
        ("GET /api/documents/secrets%2F0.md", Value::Null),
        ("GET /api/documents/work%2F0.md/rendered", Value::Null),
        ("GET /api/documents/work%2F3.md/rendered", Value::Null),
        ("GET /api/documents/memory%2Fown0/rendered", Value::Null),
        ("GET /api/documents/secrets%2F0.md/rendered", Value::Null),
        ("GET /api/documents/work%2F0.md/conversation", Value::Null),
        (
            "GET /api/documents/work%2F0.md/conversation?before=work/9.md",
            Value::Null,
        ),
        (
            "GET /api/documents/work%2F0.md/conversation?after=secrets/0.md",
            Value::Null,
        ),
        (
            "GET /api/documents/secrets%2F0.md/conversation",
            Value::Null,
        ),
        ("GET /api/documents/work%2F0.md/files/pic.svg", Value::Null),
        (
            "GET /api/documents/work%2F0.md/files/hidden.svg",
            Value::Null,
        ),
        (
            "GET /api/documents/work%2F0.md/files/..%2Fsecrets%2Fpic.svg",
            Value::Null,
        ),
        (
            "GET /api/documents/secrets%2F0.md/files/pic.svg",
            Value::Null,
        ),
        ("GET /api/recent?limit=100", Value::Null),
        ("GET /api/timeline?everything=true", Value::Null),
        ("GET /api/timeline?everything=true&kind=turn", Value::Null),
        ("GET /api/timeline/counts?everything=true", Value::Null),
        ("GET /api/timeline/counts", Value::Null),
        ("GET /api/timeline/counts?source=work", Value::Null),
        ("GET /api/timeline/counts?source=secrets", Value::Null),
        ("GET /api/timeline/counts?source=work&tag=food", Value::Null),
        ("GET /api/links/work%2F0.md", Value::Null),
        ("GET /api/links/work%2F3.md", Value::Null),
        ("GET /api/links/secrets%2F0.md", Value::Null),
        ("GET /api/similar/work%2F0.md?limit=50", Value::Null),
        ("GET /api/similar/work%2F3.md", Value::Null),
        ("GET /api/similar/work%2F3.md?source=secrets", Value::Null),
        ("GET /api/similar/secrets%2F0.md", Value::Null),
        ("POST /api/search", search("bread rising")),
        ("POST /api/search", search("breads ketle")),
        ("POST /api/search", search("quokka")),
        (
            "POST /api/search",
            json!({"query": "qu", "as_you_type": true}),
        ),
        (
            "POST /api/search",
            json!({"query": "bread", "sources": ["secrets"]}),
        ),
        (
            "POST /api/search",
            json!({"query": "quokka walrus", "mode": "semantic", "limit": 40}),
        ),
        (
            "POST /api/search",
            json!({"query": "bread", "mode": "hybrid", "tags": ["food"], "kinds": ["note"]}),
        ),
        (
            "POST /api/search",
            json!({"query": "bread", "kinds": ["turn", "article", "session"], "limit": 40}),
        ),
        (
            "POST /api/search",
            json!({"query": "", "paths": ["inner", "sub"], "after": "2025-01"}),
        ),
        (
            "GET /api/timeline?around=work%2F0.md&context=9",
            Value::Null,
        ),
        ("GET /api/timeline?around=own0&context=20", Value::Null),
        ("GET /api/timeline?around=outer0rec", Value::Null),
        ("GET /api/timeline?around=secrets%2F0.md", Value::Null),
        ("GET /api/timeline?turns=true&limit=500", Value::Null),
        (
            "GET /api/timeline?source=talks&kind=turn&turns=true",
            Value::Null,
        ),
        (
            "GET /api/timeline?from=2025-02&to=2025-04&tag=food",
            Value::Null,
        ),
        ("GET /api/timeline/counts?unit=day", Value::Null),
        ("GET /api/timeline/counts?unit=week&turns=true", Value::Null),
        (
            "GET /api/timeline/counts?unit=month&kind=note&tag=food",
            Value::Null,
        ),
        (
            "GET /api/timeline/counts?unit=month&source=bear",
            Value::Null,
        ),
        (
            "GET /api/timeline/counts?from=2025-02&to=2025-04&turns=true",
            Value::Null,
        ),
        ("GET /api/documents/inner0rec/rendered", Value::Null),
        ("GET /api/documents/outer0rec/rendered", Value::Null),
        ("GET /api/documents/articles%2Finner0/rendered", Value::Null),
        ("GET /api/documents/articles%2Fknown/rendered", Value::Null),
        ("GET /api/documents/bear%2FB0/rendered", Value::Null),
        ("GET /api/documents/inner%2F0.md", Value::Null),
        (
            "GET /api/documents/work%2F0.md/rendered?line=9",
            Value::Null,
        ),
        (
            "GET /api/documents/talks%2Finner0s%2Finner0u1/conversation",
            Value::Null,
        ),
        (
            "GET /api/documents/talks%2Fouter0s%2Fouter0u1/conversation",
            Value::Null,
        ),
        (
            "GET /api/documents/work%2F0.md/files/sub%2Fdeep.svg",
            Value::Null,
        ),
        (
            "GET /api/documents/work%2F0.md/files/inner%2Fdeep.svg",
            Value::Null,
        ),
        ("GET /api/links/inner0rec", Value::Null),
        ("GET /api/links/bear%2FB0", Value::Null),
        ("GET /api/similar/own0?limit=50", Value::Null),
        ("GET /api/similar/inner0rec?limit=50", Value::Null),
        ("GET /api/similar/known", Value::Null),
        ("GET /api/recent?limit=3", Value::Null),
        (
            "POST /api/facets",
            json!({"query": "bread", "tags": ["food"]}),
        ),
        (
            "POST /api/facets",
            json!({"query": "bread", "tags": ["quokka"]}),
        ),
        (
            "POST /api/facets",
            json!({"query": "bread", "kinds": ["turn", "session"]}),
        ),
        (
            "POST /api/facets",
            json!({"query": "kettle", "mode": "semantic"}),
        ),
        (
            "POST /api/facets",
            json!({"query": "kettle", "projects": ["hidden"]}),
        ),
        (
            "POST /api/facets",
            json!({"query": "", "after": "2025-02", "before": "2025-04"}),
        ),
        (
            "POST /api/facets",
            json!({"query": "bread", "paths": ["inner"], "limit": 3}),
        ),
        ("POST /api/facets", json!({"sources": ["bear"]})),
        ("POST /api/facets", json!({})),
        ("POST /api/facets", json!({"query": "bread rising"})),
        ("POST /api/facets", json!({"query": "breads ketle"})),
        ("POST /api/facets", json!({"query": "quokka"})),
        (
            "POST /api/facets",
            json!({"query": "qu", "as_you_type": true}),
        ),
        ("POST /api/facets", json!({"query": "\"food work\""})),
        ("POST /api/facets", json!({"sources": ["secrets"]})),
        ("POST /api/opened", json!({"id": "work/0.md"})),
        ("POST /api/opened", json!({"id": "secrets/0.md"})),
        (
            "POST /api/search",
            json!({"query": "bread", "projects": ["hidden"]}),
        ),
    ]
}
