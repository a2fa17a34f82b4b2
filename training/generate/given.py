"""Given names and surnames that everybody in a country knows, written down by hand where no list has frequencies.

May import: training.generate.frames.
"""

from __future__ import annotations

from training.generate.frames import words

GIVEN: dict[str, dict[str, tuple[str, ...]]] = {
    "de": {
        "M": words(
            "Peter Michael Thomas Andreas Wolfgang Klaus Jürgen Günter Günther Stefan Stephan Christian Uwe "
            "Werner Horst Frank Dieter Manfred Gerhard Hans Bernd Bernhard Torsten Thorsten Matthias Mathias "
            "Helmut Hellmut Walter Heinz Martin Jörg Rolf Jens Sven Alexander Jan Rainer Reiner Holger Karl Carl "
            "Dirk Joachim Ralf Ralph Karlheinz Herbert Wilhelm Oliver Ulrich Markus Marcus Siegfried Heinrich "
            "Florian Daniel Tobias Sebastian Philipp Philip Felix Lukas Lucas Leon Luca Finn Jonas Paul Elias "
            "Noah Ben Maximilian Moritz Niklas Tim Tom Julian Fabian Dominik Simon David Johannes Georg Josef "
            "Franz Anton Otto Kurt Erich Ernst Friedrich Fritz Rudolf Alfred Erwin Eugen Konrad Gregor Lothar "
            "Norbert Reinhard Roland Volker Wolfram Detlef Eckhard Eberhard Egon Hartmut Henning Hinrich Ingo "
            "Jochen Kai Knut Lars Leonhard Ludwig Lutz Malte Mario Marko Nico Nils Olaf Oskar Patrick Robert "
            "Roman Ruben Rüdiger Samuel Steffen Till Timo Udo Valentin Veit Viktor Vinzenz Willi Xaver Alois Sepp "
            "Hannes Gernot Gerald Harald Helge Arne Bastian Benedikt Björn Burkhard Clemens Cornelius Emil Erik "
            "Falk Gottfried Gustav Hagen Heiko Heiner Henrik Hermann Hubert Jakob Janosch Jannik Joshua Justus "
            "Kevin Kilian Korbinian Lennart Levin Linus Magnus Marcel Marvin Mehmet Ahmet Mustafa Ali Murat Yusuf "
            "Emre Can Dragan Goran Zoran Igor Sergej Dmitri Artur Piotr Tomasz Omar Hamza Mohammed Hans-Peter "
            "Karl-Heinz Hans-Jürgen Klaus-Dieter Hans-Joachim Karl-Friedrich Ernst-August Jan-Philipp"
        ),
        "F": words(
            "Ursula Karin Helga Sabine Ingrid Renate Monika Susanne Gisela Petra Birgit Andrea Anna Brigitte "
            "Claudia Erika Christa Elke Stefanie Stephanie Gertrud Elisabeth Maria Angelika Heike Gabriele Katrin "
            "Kathrin Ilse Nicole Anja Barbara Hildegard Martina Ingeborg Gerda Marion Jutta Ute Hannelore Irmgard "
            "Christine Christina Inge Sylvia Silvia Julia Sandra Kerstin Manuela Elfriede Melanie Bärbel Silke "
            "Tanja Margarete Margarethe Waltraud Cornelia Rita Ruth Anneliese Marianne Bettina Doris Simone Sonja "
            "Yvonne Edith Edeltraud Eva Elvira Regina Roswitha Rosemarie Heidi Heidemarie Beate Daniela Antje "
            "Anke Astrid Carola Carina Corinna Dagmar Diana Dorothea Franziska Frauke Friederike Gerlinde Gudrun "
            "Hanna Hannah Hedwig Helene Henriette Hilde Imke Ines Irene Iris Isabel Isabell Jana Janina Jennifer "
            "Jessica Johanna Judith Katharina Kathleen Kirsten Klara Clara Kristina Lara Laura Lea Lena Leni "
            "Leonie Lieselotte Lina Linda Lisa Lotte Luise Louisa Magdalena Maike Meike Mareike Maren Margit "
            "Margot Marie Marlene Marlies Mathilde Mechthild Mia Michaela Miriam Mona Nadine Nadja Natalie Nele "
            "Nina Nora Olga Paula Pia Ramona Rebecca Rebekka Romy Rosa Sabrina Sara Sarah Saskia Selina Sibylle "
            "Sieglinde Sigrid Sina Sophia Sofia Sophie Svenja Swantje Tamara Theresa Therese Thea Tina Trude Ulla "
            "Ulrike Vanessa Vera Verena Veronika Viktoria Walburga Wiebke Wilma Zoe Ayşe Fatma Emine Elif Zeynep "
            "Aylin Leyla Svetlana Irina Natascha Agnieszka Małgorzata Amira Anna-Lena Eva-Maria Marie-Luise Ann- "
            "Kathrin Anne-Marie Hanna-Sophie Rose-Marie Karin-Ulrike"
        ),
    },
    "it": {
        "M": words(
            "Giuseppe Giovanni Antonio Mario Luigi Francesco Angelo Vincenzo Pietro Salvatore Carlo Franco "
            "Domenico Bruno Paolo Michele Giorgio Aldo Sergio Luciano Marco Andrea Alessandro Matteo Lorenzo "
            "Leonardo Gabriele Mattia Riccardo Davide Edoardo Tommaso Federico Simone Nicola Nicolò Niccolò Luca "
            "Stefano Roberto Massimo Claudio Maurizio Fabio Fabrizio Alberto Giancarlo Gianluca Gianni Gianfranco "
            "Giampaolo Piero Pierluigi Piergiorgio Enrico Ernesto Ettore Ezio Emanuele Emilio Elio Diego Daniele "
            "Dario Corrado Cesare Carmine Carmelo Ciro Gennaro Pasquale Raffaele Rocco Rosario Sandro Saverio "
            "Silvio Tiziano Ugo Umberto Valerio Vittorio Walter Filippo Flavio Fausto Felice Ferdinando Gaetano "
            "Gerardo Giacomo Gino Giulio Guido Ivano Ivan Lino Livio Loris Manuel Manlio Marcello Mauro Mirko "
            "Moreno Nando Nello Nino Oreste Oscar Ottavio Primo Renato Renzo Romano Romolo Ruggero Samuele "
            "Sebastiano Severino Tancredi Teodoro Tullio Valentino Virgilio Christian Cristian Kevin Elia Gioele "
            "Pier Paolo Gian Marco Giandomenico Ahmed Mohamed Youssef Dragos Ionut Andrei"
        ),
        "F": words(
            "Maria Anna Giuseppina Rosa Angela Giovanna Teresa Lucia Carmela Caterina Francesca Antonietta Carla "
            "Elena Concetta Rita Margherita Franca Paola Laura Giulia Chiara Sara Martina Federica Valentina "
            "Alessia Silvia Elisa Alice Giorgia Aurora Sofia Greta Ginevra Beatrice Emma Vittoria Matilde Camilla "
            "Ludovica Bianca Arianna Alessandra Barbara Benedetta Carlotta Cecilia Claudia Cristina Daniela "
            "Debora Donatella Eleonora Elisabetta Emanuela Erika Eugenia Eva Fabiana Fabiola Fiorella Flavia "
            "Gabriella Gaia Gemma Giada Gianna Gina Giuliana Graziella Ilaria Ilenia Immacolata Irene Isabella "
            "Ivana Jessica Lara Letizia Licia Lidia Liliana Loredana Lorella Lorena Luana Luciana Luisa Maddalena "
            "Manuela Marcella Margherita Mariangela Marina Marta Marisa Marzia Michela Milena Miriam Mirella "
            "Monica Nadia Natalia Nicoletta Noemi Olga Ornella Patrizia Pina Raffaella Rachele Rebecca Renata "
            "Roberta Rosalia Rosanna Rosaria Rossella Sabrina Samantha Sandra Serena Simona Sonia Stefania Stella "
            "Susanna Tatiana Tiziana Valeria Vanessa Veronica Viola Virginia Viviana Wanda Assunta Annalisa "
            "Annamaria Mariagrazia Pierangela Ionela Oksana Svitlana Fatima Aicha"
        ),
    },
}
SURNAMES: dict[str, tuple[str, ...]] = {
    "de": words(
        "Müller Schmidt Schneider Fischer Weber Meyer Wagner Becker Schulz Hoffmann Schäfer Koch Bauer "
        "Richter Klein Wolf Schröder Neumann Schwarz Zimmermann Braun Krüger Hofmann Hartmann Lange Schmitt "
        "Werner Schmitz Krause Meier Lehmann Schmid Schulze Maier Köhler Herrmann König Walter Mayer Huber "
        "Kaiser Fuchs Peters Lang Scholz Möller Weiß Jung Hahn Schubert Vogel Friedrich Keller Günther Frank "
        "Berger Winkler Roth Beck Lorenz Baumann Franke Albrecht Schuster Simon Ludwig Böhm Winter Kraus "
        "Martin Schumacher Krämer Vogt Stein Jäger Otto Sommer Groß Seidel Heinrich Brandt Haas Schreiber "
        "Graf Schulte Dietrich Ziegler Kuhn Kühn Pohl Engel Horn Busch Bergmann Thomas Voigt Sauer Arnold "
        "Wolff Pfeiffer Yılmaz Kaya Demir Şahin Nowak Kowalski Petrović Nguyen Hassan Gruber Steiner Moser "
        "Pichler Egger Reiter Wimmer Auer Brunner Meierhofer Zürcher Bühler Gerber Frei Sutter"
    ),
    "it": words(
        "Rossi Russo Ferrari Esposito Bianchi Romano Colombo Ricci Marino Greco Bruno Gallo Conti Mancini "
        "Costa Giordano Rizzo Lombardi Moretti Barbieri Fontana Santoro Mariani Rinaldi Caruso Ferrara Galli "
        "Martini Leone Longo Gentile Martinelli Vitale Lombardo Serra Coppola Marchetti Parisi Villa Conte "
        "Ferraro Ferri Fabbri Bianco Marini Grasso Valentini Messina Sala Gatti Pellegrini Palumbo Sanna "
        "Farina Rizzi Monti Cattaneo Morelli Amato Silvestri Mazza Testa Grassi Pellegrino Carbone Giuliani "
        "Benedetti Barone Rossetti Caputo Montanari Guerra Palmieri Bernardi Martino Fiore Ferretti Bellini "
        "Basile Riva Donati Piras Vitali Battaglia Sartori Neri Costantini Milani Pagano Ruggiero Sorrentino "
        "Orlando Negri Mantovani Hu Singh Popescu Ciobanu Hoxha Kaur Ahmed Traoré"
    ),
    "fr": words(
        "Martin Bernard Thomas Petit Robert Richard Durand Dubois Moreau Laurent Simon Michel Lefebvre Leroy "
        "Roux David Bertrand Morel Fournier Girard Bonnet Dupont Lambert Fontaine Rousseau Vincent Muller "
        "Lefèvre Faure André Mercier Blanc Guérin Boyer Garnier Chevalier François Legrand Gauthier Garcia "
        "Perrin Robin Clément Morin Nicolas Henry Roussel Mathieu Gautier Masson Marchand Duval Denis Dumont "
        "Marie Lemaire Noël Meyer Dufour Meunier Brun Blanchard Giraud Joly Rivière Lucas Brunet Gaillard "
        "Barbier Arnaud Martinez Gérard Roche Renard Schmitt Roy Leroux Colin Vidal Caron Picard Roger Fabre "
        "Aubert Lemoine Renaud Dumas Lacroix Olivier Philippe Bourgeois Pierre Benoît Rey Leclerc Payet "
        "Rolland Leclercq Guillaume Lecomte Lopez Jean Dupuy Guillot Hubert Berger Carpentier Sanchez Dupuis "
        "Moulin Louis Deschamps Huet Vasseur Perez Boucher Fleury Royer Klein Jacquet Adam Paris Poirier "
        "Marty Aubry Guyot Carré Charles Renault Charpentier Ménard Maillard Baron Bertin Bailly Hervé "
        "Schneider Fernandez Le Gall Collet Léger Bouvier Julien Prévost Millet Perrot Daniel Le Roux Cousin "
        "Germain Breton Besson Langlois Rémy Le Goff Pelletier Lévêque Perrier Leblanc Barré Lebrun Marchal "
        "Weber Mallet Hamon Boulanger Jacob Monnier Michaud Guichard Poulain Etienne Tanguy Diallo Traoré "
        "Benali N'Diaye"
    ),
}
